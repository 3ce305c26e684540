package subscription

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
)

const (
	// keepAliveInterval is how often a stream without changes gets a comment.
	keepAliveInterval = 15 * time.Second
	// closeTimeout is how long a client may take to receive the end of its subscription.
	closeTimeout = 2 * time.Second
)

// A Set is the subscriptions of one endpoint. It is safe for concurrent use.
type Set struct {
	logger *slog.Logger // fixed at creation

	running sync.WaitGroup // members

	mu      sync.Mutex // guards the fields below
	closed  bool
	members map[stopper]func() // each with what ends the wait for the end of its client's identity; nil for none
}

// A stopper is a subscription as Close sees it. Its method does not block.
type stopper interface{ stop() }

// NewSet makes an empty Set. A nil logger discards.
func NewSet(logger *slog.Logger) *Set {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Set{logger: logger, members: make(map[stopper]func())}
}

// Len counts the subscriptions.
func (s *Set) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.members)
}

// End ends the subscriptions that there are with their result, and does not wait for that.
func (s *Set) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for member := range s.members {
		member.stop()
	}
}

// Close ends every subscription with its result, and waits for that. Later ones are refused.
func (s *Set) Close() {
	s.mu.Lock()
	s.closed = true
	for member := range s.members {
		member.stop()
	}
	s.mu.Unlock()
	s.running.Wait()
}

// Serve answers m, a request for subscriptions/listen: with a subscription that lasts until the client goes or Close is
// called, or with an error. Where the subscription can take the connection from net/http, Serve returns when the
// subscription has begun.
func (s *Set) Serve(w http.ResponseWriter, r *http.Request, core *mcp.Core, m *mcp.Message) {
	m.Client = mcp.ClientOf(r.RemoteAddr)
	var member stopper
	var run func()
	if r.ProtoMajor == 1 && canHijack(w) {
		own := &subscriber{}
		member, run = own, func() { s.hijack(own, w, r, core, m) }
	} else {
		ctx, cancel := context.WithCancelCause(r.Context())
		defer cancel(nil)
		within := cancelStopper(cancel)
		member, run = &within, func() { serveWithin(ctx, w, core, m); s.remove(member) }
	}
	if !s.add(member, auth.IdentityOf(r.Context())) {
		response.WriteError(w, m, &mcp.Error{Code: mcp.CodeInternalError, Message: "The server is shutting down"})
		return
	}
	run()
}

// A cancelStopper stops a subscription that runs within its handler.
type cancelStopper context.CancelCauseFunc

func (c *cancelStopper) stop() { (*c)(mcp.ErrClosing) }

// serveWithin runs a subscription on a connection that stays with net/http.
func serveWithin(ctx context.Context, w http.ResponseWriter, core *mcp.Core, m *mcp.Message) {
	stream := response.NewStream(w)
	stop := stream.KeepAlive(keepAliveInterval)
	defer stop()
	account := auth.AccountOf(ctx)
	failure := core.Listen(ctx, m, func(message []byte) error {
		if account != nil {
			account.Write(len(message))
		}
		if ctx.Err() != nil {
			return stream.Send(message, closeTimeout)
		}
		return stream.Send(message, response.AnswerTimeout)
	})
	if failure != nil && !stream.Begun() {
		response.WriteError(w, m, failure)
	}
}

// canHijack reports whether a response can give away its connection.
func canHijack(w http.ResponseWriter) bool {
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

// add adds a subscription, unless the Set is closed. It is stopped when the identity of its client ends; nil is none.
func (s *Set) add(member stopper, identity *auth.Identity) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.members[member] = nil
	if identity != nil {
		ended, release := identity.Hold()
		forget := context.AfterFunc(ended, member.stop)
		s.members[member] = func() { forget(); release() }
	}
	s.running.Add(1)
	return true
}

func (s *Set) remove(member stopper) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if forget := s.members[member]; forget != nil {
		forget()
	}
	delete(s.members, member)
	s.running.Done()
}
