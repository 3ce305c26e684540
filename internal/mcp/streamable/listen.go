package streamable

import (
	"context"
	"net/http"
	"time"

	"github.com/wasmres/wasmres/internal/mcp"
	"github.com/wasmres/wasmres/internal/mcp/streamable/response"
)

const (
	// keepAlive is how often a stream without changes shows that it lives.
	keepAlive = 15 * time.Second
	// closingPatience is how long a client may take for the end of its subscription.
	closingPatience = 2 * time.Second
)

// An ender is a subscription as Close sees it. Its method does not block.
type ender interface{ end() }

// listen runs a subscription, until the client goes or Close is called. Where it can have the connection for itself, it
// goes on after listen has returned, and costs less.
func (h *Handler) listen(w http.ResponseWriter, r *http.Request, m *mcp.Message) {
	m.Client = mcp.ClientOf(r.RemoteAddr)
	var s ender
	var run func()
	if r.ProtoMajor == 1 && hijackable(w) {
		apart := &subscriber{}
		s, run = apart, func() { h.begin(apart, w, r, m) }
	} else {
		ctx, cancel := context.WithCancelCause(r.Context())
		defer cancel(nil)
		within := canceller(cancel)
		s, run = &within, func() { h.listenWithin(ctx, w, m); h.leave(s) }
	}
	if !h.enter(s) {
		response.WriteError(w, m, &mcp.Error{Code: mcp.CodeInternalError, Message: "The server is shutting down"})
		return
	}
	run()
}

// A canceller ends a subscription that runs within its handler.
type canceller context.CancelCauseFunc

func (c *canceller) end() { (*c)(mcp.ErrClosing) }

// listenWithin runs a subscription on a connection that stays net/http's.
func (h *Handler) listenWithin(ctx context.Context, w http.ResponseWriter, m *mcp.Message) {
	s := response.NewStream(w)
	stop := s.KeepAlive(keepAlive)
	defer stop()
	failure := h.cfg.Core.Listen(ctx, m, func(message []byte) error {
		if ctx.Err() != nil {
			return s.Send(message, closingPatience)
		}
		return s.Send(message, response.AnswerTimeout)
	})
	if failure != nil && !s.Begun() {
		response.WriteError(w, m, failure)
	}
}

// hijackable reports whether a response may give its connection away.
func hijackable(w http.ResponseWriter) bool {
	for {
		switch t := w.(type) {
		case http.Hijacker:
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			w = t.Unwrap()
		default:
			return false
		}
	}
}

// enter notes a subscription, unless the Handler is closed.
func (h *Handler) enter(s ender) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.subscriptions[s] = struct{}{}
	h.running.Add(1)
	return true
}

func (h *Handler) leave(s ender) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.subscriptions, s)
	h.running.Done()
}
