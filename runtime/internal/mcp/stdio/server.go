package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

// Bounds of the requests that were received and are not answered yet.
const (
	maxPending      = 1024
	maxPendingLines = 16 // lines of the greatest length, as bytes
)

var (
	errCancelled        = errors.New("cancelled by the client")
	errClientNotReading = errors.New("the client does not read its answers")
)

// A server is one connection.
type server struct {
	// fixed at creation
	cfg     Config
	out     *writer
	workers *workers

	legacy  LegacySession  // owned by loop, then by shutdown; nil before initialize
	running sync.WaitGroup // requests and subscriptions

	mu       sync.Mutex                 // guards the fields below
	requests map[string]*pendingRequest // by id
	pending  int                        // requests, without subscriptions
	bytes    int                        // of their lines
}

// A pendingRequest is one that the core has not answered yet.
type pendingRequest struct {
	// fixed at creation
	message *mcp.Message
	size    int                  // bytes of its line
	listen  bool                 // it is a subscription
	ctx     *deadline.Cancelable // no part of the request: a service may have it for longer

	cancelled atomic.Bool // by the client, which must get no answer
}

// loop handles lines until the input or ctx ends, or a write fails. The contexts of requests are children of work.
func (s *server) loop(ctx, work context.Context, lines <-chan []line) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.out.broken:
			return nil // shutdown returns the error
		case batch := <-lines:
			for _, l := range batch {
				if l.err != nil {
					return inputError(l.err)
				}
				s.handleLine(work, l)
			}
		}
	}
}

// inputError returns the error for the end of the input; nil for the usual end.
func inputError(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("read from the client: %w", err)
}

func (s *server) handleLine(work context.Context, l line) {
	if l.tooLong {
		s.refuse(nil, &mcp.Error{
			Code: mcp.CodeInvalidRequest, Message: fmt.Sprintf("Invalid request: longer than %d bytes", s.cfg.MaxLine),
		})
		return
	}
	s.handle(work, l.text)
}

// handle passes a message to the core, or to the session of an older revision.
func (s *server) handle(work context.Context, text []byte) {
	m, err := mcp.ParseMessage(text)
	switch {
	case err != nil && text[0] == '[' && s.legacy != nil: // a batch, which only some revisions allow
		s.receive(m, text)
	case err != nil:
		s.refuse(m.ID, err)
	case m.IsRequest() && (m.Modern() || m.Method == "server/discover"):
		s.start(work, m, len(text))
	case m.Cancels() != nil && s.cancel(m.Cancels()):
	case m.IsRequest() && m.Method == "initialize" && s.cfg.Legacy != nil:
		s.initialize(work, m, text)
	case s.legacy != nil && m.IsCoreRequest() && s.setRevision(m):
		s.start(work, m, len(text))
	case s.legacy != nil:
		s.receive(m, text)
	case m.IsRequest():
		s.start(work, m, len(text)) // the core answers with an error that says what is missing
	}
}

// setRevision makes m a request of the session's revision. It returns false while the session is not ready.
func (s *server) setRevision(m *mcp.Message) bool {
	revision, ok := s.legacy.Ready()
	m.Revision = revision
	return ok
}

// initialize opens the session of an older revision. If it is open already, the session refuses the message.
func (s *server) initialize(work context.Context, m *mcp.Message, text []byte) {
	if s.legacy == nil {
		session, err := s.cfg.Legacy.Connect(work, func(line []byte) error {
			defer s.cfg.Core.AfterResponse()
			return s.out.write(append(slices.Clip(line), '\n'), nil)
		})
		if err != nil {
			s.cfg.Logger.Error("legacy session not opened", "err", err)
			s.refuse(m.ID, &mcp.Error{Code: mcp.CodeInternalError, Message: "Internal error"})
			return
		}
		s.legacy = session
	}
	s.receive(m, mcp.LegacyInitialize(text))
}

// receive passes a line to the session of an older revision.
func (s *server) receive(m *mcp.Message, text []byte) {
	err := s.legacy.Receive(text)
	if err == nil {
		return
	}
	s.cfg.Logger.Warn("legacy session ended", "err", err)
	_ = s.legacy.Close() // it has ended already
	s.legacy = nil
	if m.IsRequest() {
		s.refuse(m.ID, &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "Invalid request: the session has ended"})
	}
}

// refuse answers with an error at once. When the write fails, the loop ends.
func (s *server) refuse(id json.RawMessage, e *mcp.Error) {
	_ = s.out.write(append(mcp.AppendError(nil, id, e), '\n'), nil)
}

// start runs a request that came in a line of size bytes, if the bounds allow another.
func (s *server) start(work context.Context, m *mcp.Message, size int) {
	p := &pendingRequest{message: m, size: size, listen: m.Method == mcp.ListenMethod, ctx: deadline.NewCancelable(work)}
	if refusal := s.begin(p); refusal != nil {
		s.refuse(m.ID, refusal)
		return
	}
	s.running.Add(1)
	if p.listen {
		go s.listen(p)
	} else {
		s.workers.add(p)
	}
}

// begin counts a request as pending, or returns the error that refuses it.
func (s *server) begin(p *pendingRequest) *mcp.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := string(p.message.ID)
	switch {
	case s.requests[id] != nil:
		return &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "Invalid request: a request with this id is running"}
	case p.listen: // the core bounds these
	case s.pending == maxPending || s.bytes+p.size > maxPendingLines*s.cfg.MaxLine:
		return mcp.BusyError()
	default:
		s.pending++
		s.bytes += p.size
	}
	s.requests[id] = p
	return nil
}

// end ends the effect of begin. It is called just before the answer is written, after which the client may use the id
// again.
func (s *server) end(p *pendingRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id := p.message.ID; s.requests[string(id)] == p {
		delete(s.requests, string(id))
	}
	if !p.listen {
		s.pending--
		s.bytes -= p.size
	}
}

// cancel cancels the request with that id, and reports whether there is one.
func (s *server) cancel(id json.RawMessage) bool {
	s.mu.Lock()
	p := s.requests[string(id)]
	delete(s.requests, string(id))
	s.mu.Unlock()
	if p == nil {
		return false
	}
	p.cancelled.Store(true)
	p.ctx.Cancel(errCancelled)
	return true
}

// session names the one session of the process, for a source that keeps state for each session.
const session = "stdio"

// answer answers a request by the core.
func (s *server) answer(p *pendingRequest) {
	defer s.running.Done()
	defer p.ctx.Cancel(nil)
	p.message.Session = session
	r := response{server: s, request: p}
	out, failure := s.cfg.Core.Answer(p.ctx, s.cfg.Core.Buffer(), p.message, mcp.ResponseStream{Notify: r.notify, Flush: r.flush})
	r.finish(out, failure)
	s.cfg.Core.Release(out)
	s.cfg.Core.AfterResponse()
}

// listen runs a subscription, on a goroutine of its own since it lasts for hours.
func (s *server) listen(p *pendingRequest) {
	defer s.running.Done()
	defer p.ctx.Cancel(nil)
	request := p.message
	p.message = &mcp.Message{ID: bytes.Clone(request.ID)} // without the line, which may be long
	err := s.cfg.Core.Listen(p.ctx, request, func(message []byte) error {
		return s.out.write(append(slices.Clip(message), '\n'), p)
	})
	s.end(p)
	if err != nil {
		_ = s.out.write(append(mcp.AppendError(nil, p.message.ID, err), '\n'), p) // when the write fails, the loop ends
	}
}

// cancelTime is how long requests may take to end after Config.Grace, when they are cancelled.
const cancelTime = time.Second

// shutdown waits for the requests under way, cancels them after Config.Grace, and returns after cancelTime at the latest.
func (s *server) shutdown(cancel context.CancelCauseFunc) error {
	timeout := time.After(s.cfg.Grace + cancelTime)
	s.mu.Lock()
	for _, p := range s.requests {
		if p.listen {
			p.ctx.Cancel(mcp.ErrClosing)
		}
	}
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() { // ends when all requests have ended
		defer close(ended)
		s.running.Wait() // requests of the session need its state
		if s.legacy != nil {
			_ = s.legacy.Close()
		}
	}()
	select {
	case <-ended:
	case <-s.out.broken:
		cancel(mcp.ErrClosing)
	case <-time.After(s.cfg.Grace):
		cancel(mcp.ErrClosing)
	}
	select {
	case <-ended:
	case <-timeout:
		s.out.close()
		return errClientNotReading
	}
	s.out.close()
	select {
	case <-s.out.ended:
		return s.out.failure()
	case <-timeout:
		return errClientNotReading
	}
}
