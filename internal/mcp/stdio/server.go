package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/internal/mcp"
)

// Requests that have not been answered, waiting ones included, are bounded by number and by size.
const (
	maxPending      = 1024
	maxPendingLines = 16 // of full length
)

var (
	errCancelled = errors.New("cancelled by the client")
	errStuck     = errors.New("the client does not read")
)

// A server is one connection.
type server struct {
	// fixed at creation
	cfg   Config
	out   *writer
	slots chan struct{} // holds one token for each request that runs

	legacy  LegacySession  // owned by loop, then by shutdown; nil before initialize
	running sync.WaitGroup // requests and subscriptions

	mu      sync.Mutex // guards the fields below
	flights map[string]*flight
	pending int // requests
	bytes   int // of their lines
}

// A flight is a request of a modern revision that has not been answered.
type flight struct {
	// fixed at creation
	listen bool
	cancel context.CancelCauseFunc

	cancelled atomic.Bool // by the client, who must hear nothing more of it
}

// loop handles lines until they end, ctx does, or a write fails. Requests run under work.
func (s *server) loop(ctx, work context.Context, lines <-chan line) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.out.broken:
			return nil // shutdown tells
		case l := <-lines:
			switch {
			case errors.Is(l.err, io.EOF):
				return nil
			case l.err != nil:
				return fmt.Errorf("read: %w", l.err)
			case l.tooLong:
				s.refuse(nil, &mcp.Error{
					Code: mcp.CodeInvalidRequest, Message: fmt.Sprintf("Invalid request: longer than %d bytes", s.cfg.MaxLine),
				})
			default:
				s.handle(work, l.text)
			}
		}
	}
}

// handle finds out for whom a line is.
func (s *server) handle(work context.Context, text []byte) {
	m, err := mcp.ParseMessage(text)
	switch {
	case err != nil && text[0] == '[' && s.legacy != nil: // a batch, which some revisions have
		s.receive(m, text)
	case err != nil:
		s.refuse(m.ID, err)
	case m.IsRequest() && (m.Modern() || m.Method == "server/discover"):
		s.start(work, m, len(text))
	case m.Cancels() != nil && s.cancel(m.Cancels()):
	case m.IsRequest() && m.Method == "initialize" && s.cfg.Legacy != nil:
		s.initialize(work, m, text)
	case s.legacy != nil:
		s.receive(m, text)
	case m.IsRequest():
		s.start(work, m, len(text)) // the core says what is missing
	}
}

// initialize opens the session of an older revision, unless it is open: then it refuses the message itself.
func (s *server) initialize(work context.Context, m *mcp.Message, text []byte) {
	if s.legacy == nil {
		session, err := s.cfg.Legacy.Connect(work, func(line []byte) error {
			defer s.cfg.Core.Settle()
			return s.out.write(append(slices.Clip(line), '\n'), nil)
		})
		if err != nil {
			s.cfg.Logger.Error("legacy session refused", "error", err)
			s.refuse(m.ID, &mcp.Error{Code: mcp.CodeInternalError, Message: "Internal error"})
			return
		}
		s.legacy = session
	}
	s.receive(m, mcp.LegacyInitialize(text))
}

// receive hands a line to the session of an older revision.
func (s *server) receive(m *mcp.Message, text []byte) {
	err := s.legacy.Receive(text)
	if err == nil {
		return
	}
	s.cfg.Logger.Warn("legacy session ended", "error", err)
	_ = s.legacy.Close() // it has ended already
	s.legacy = nil
	if m.IsRequest() {
		s.refuse(m.ID, &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "Invalid request: the session has ended"})
	}
}

// refuse answers with an error at once. A failed write ends the loop.
func (s *server) refuse(id json.RawMessage, e *mcp.Error) {
	_ = s.out.write(append(mcp.AppendError(nil, id, e), '\n'), nil)
}

// start runs a request, which came in a line of size bytes, unless there is no room for it.
func (s *server) start(work context.Context, m *mcp.Message, size int) {
	ctx, cancel := context.WithCancelCause(work)
	f := &flight{cancel: cancel, listen: m.Method == mcp.ListenMethod}
	if refusal := s.admit(m, f, size); refusal != nil {
		cancel(nil)
		s.refuse(m.ID, refusal)
		return
	}
	s.running.Go(func() {
		defer cancel(nil)
		defer s.release(f, size)
		if f.listen {
			s.listen(ctx, m, f)
		} else {
			s.answer(ctx, m, f)
		}
	})
}

// admit notes a request as under way.
func (s *server) admit(m *mcp.Message, f *flight, size int) *mcp.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.flights[string(m.ID)] != nil:
		return &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "Invalid request: one with this id is under way"}
	case f.listen: // the core bounds these
	case s.pending == maxPending || s.bytes+size > maxPendingLines*s.cfg.MaxLine:
		return mcp.TooBusy()
	default:
		s.pending++
		s.bytes += size
	}
	s.flights[string(m.ID)] = f
	return nil
}

// release undoes admit, but for what settle does.
func (s *server) release(f *flight, size int) {
	if f.listen {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending--
	s.bytes -= size
}

// settle makes the id of a request free for the next: it is called just before the answer is written, after which the
// client may use it again.
func (s *server) settle(id json.RawMessage, f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flights[string(id)] == f {
		delete(s.flights, string(id))
	}
}

// cancel stops the request with that id, and reports whether there is one.
func (s *server) cancel(id json.RawMessage) bool {
	s.mu.Lock()
	f := s.flights[string(id)]
	delete(s.flights, string(id))
	s.mu.Unlock()
	if f == nil {
		return false
	}
	f.cancelled.Store(true)
	f.cancel(errCancelled)
	return true
}

// session is what all requests of a connection have in common, and with no other: a process has one.
const session = "stdio"

// answer runs a request when it is its turn.
func (s *server) answer(ctx context.Context, m *mcp.Message, f *flight) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		s.finish(m, f, mcp.AppendError(nil, m.ID, mcp.TooBusy()))
		return
	}
	const usual = 1 << 10 // bytes of an answer
	m.Session = session
	out, _ := s.cfg.Core.Answer(ctx, make([]byte, 0, usual), m, func(method string, params json.RawMessage) error {
		return s.out.write(append(mcp.AppendNotification(nil, method, params), '\n'), f)
	})
	s.finish(m, f, out)
	s.cfg.Core.Settle()
}

// listen runs a subscription. It takes no slot: it would keep it for hours.
func (s *server) listen(ctx context.Context, m *mcp.Message, f *flight) {
	err := s.cfg.Core.Listen(ctx, m, func(message []byte) error {
		return s.out.write(append(slices.Clip(message), '\n'), f)
	})
	if err != nil {
		s.finish(m, f, mcp.AppendError(nil, m.ID, err))
		return
	}
	s.settle(m.ID, f)
}

// finish writes the answer to a request. A failed write ends the loop.
func (s *server) finish(m *mcp.Message, f *flight, answer []byte) {
	s.settle(m.ID, f)
	_ = s.out.write(append(answer, '\n'), f)
}

// shutdown ends all that is under way, in peace if it can be had within the grace.
func (s *server) shutdown(cancel context.CancelCauseFunc) error {
	s.mu.Lock()
	for _, f := range s.flights {
		if f.listen {
			f.cancel(mcp.ErrClosing)
		}
	}
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() { // ends when everything has
		defer close(ended)
		if s.legacy != nil {
			_ = s.legacy.Close()
		}
		s.running.Wait()
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
		return s.out.failure()
	case <-time.After(s.cfg.Grace):
		return errStuck
	}
}
