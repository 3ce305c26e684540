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

	"github.com/wasmres/wasmres/runtime/internal/mcp"
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
	cfg  Config
	out  *writer
	crew *crew

	legacy  LegacySession  // owned by loop, then by shutdown; nil before initialize
	running sync.WaitGroup // requests and subscriptions

	mu      sync.Mutex // guards the fields below
	flights map[string]*flight
	pending int // requests
	bytes   int // of their lines
}

// A flight is a request that has not been answered, unless the session of an older revision has it.
type flight struct {
	// fixed at creation
	message *mcp.Message
	size    int // bytes of its line
	listen  bool
	ctx     context.Context
	cancel  context.CancelCauseFunc

	cancelled atomic.Bool // by the client, who must hear nothing more of it
}

// loop handles lines until they end, ctx does, or a write fails. Requests run under work.
func (s *server) loop(ctx, work context.Context, lines <-chan []line) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.out.broken:
			return nil // shutdown tells
		case some := <-lines:
			for _, l := range some {
				if l.err != nil {
					return endOf(l.err)
				}
				s.line(work, l)
			}
		}
	}
}

// endOf is what a connection has ended with.
func endOf(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("read: %w", err)
}

func (s *server) line(work context.Context, l line) {
	if l.tooLong {
		s.refuse(nil, &mcp.Error{
			Code: mcp.CodeInvalidRequest, Message: fmt.Sprintf("Invalid request: longer than %d bytes", s.cfg.MaxLine),
		})
		return
	}
	s.handle(work, l.text)
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
	case s.legacy != nil && m.Usual() && s.inSession(m):
		s.start(work, m, len(text))
	case s.legacy != nil:
		s.receive(m, text)
	case m.IsRequest():
		s.start(work, m, len(text)) // the core says what is missing
	}
}

// inSession makes m a request of the older revision's session that the core can answer, if that session is ready.
func (s *server) inSession(m *mcp.Message) bool {
	revision, ok := s.legacy.Ready()
	m.Revision = revision
	return ok
}

// initialize opens the session of an older revision, unless it is open: then it refuses the message itself.
func (s *server) initialize(work context.Context, m *mcp.Message, text []byte) {
	if s.legacy == nil {
		session, err := s.cfg.Legacy.Connect(work, func(line []byte) error {
			defer s.cfg.Core.AfterResponse()
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
	f := &flight{message: m, size: size, listen: m.Method == mcp.ListenMethod}
	if refusal := s.admit(f); refusal != nil {
		s.refuse(m.ID, refusal)
		return
	}
	f.ctx, f.cancel = context.WithCancelCause(work)
	s.running.Add(1)
	if f.listen {
		go s.listen(f)
	} else {
		s.crew.add(f)
	}
}

// admit notes a request as under way.
func (s *server) admit(f *flight) *mcp.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := string(f.message.ID)
	switch {
	case s.flights[id] != nil:
		return &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "Invalid request: one with this id is under way"}
	case f.listen: // the core bounds these
	case s.pending == maxPending || s.bytes+f.size > maxPendingLines*s.cfg.MaxLine:
		return mcp.TooBusy()
	default:
		s.pending++
		s.bytes += f.size
	}
	s.flights[id] = f
	return nil
}

// settle undoes admit: it is called just before the answer is written, after which the client may use the id again.
func (s *server) settle(f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id := f.message.ID; s.flights[string(id)] == f {
		delete(s.flights, string(id))
	}
	if !f.listen {
		s.pending--
		s.bytes -= f.size
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

// answer runs a request.
func (s *server) answer(f *flight) {
	defer s.running.Done()
	defer f.cancel(nil)
	f.message.Session = session
	x := exchange{server: s, flight: f}
	out, failure := s.cfg.Core.Answer(f.ctx, s.cfg.Core.Buffer(), f.message, mcp.Outlet{Notify: x.notify, Flush: x.flush})
	x.finish(out, failure)
	s.cfg.Core.Release(out)
	s.cfg.Core.AfterResponse()
}

// listen runs a subscription. The crew has no part in it: it lasts for hours.
func (s *server) listen(f *flight) {
	defer s.running.Done()
	defer f.cancel(nil)
	request := f.message
	f.message = &mcp.Message{ID: bytes.Clone(request.ID)} // which keeps nothing of the line, for hours
	err := s.cfg.Core.Listen(f.ctx, request, func(message []byte) error {
		return s.out.write(append(slices.Clip(message), '\n'), f)
	})
	s.settle(f)
	if err != nil {
		_ = s.out.write(append(mcp.AppendError(nil, f.message.ID, err), '\n'), f) // a failed write ends the loop
	}
}

// cancelTime is how long requests may take to end that are cancelled because the grace is over.
const cancelTime = time.Second

// shutdown answers what is under way within the grace, and cancels the rest. It takes no longer than the grace and
// cancelTime.
func (s *server) shutdown(cancel context.CancelCauseFunc) error {
	stuck := time.After(s.cfg.Grace + cancelTime)
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
		s.running.Wait() // some are of the session, whose state ends with it
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
	case <-stuck:
		s.out.close()
		return errStuck
	}
	s.out.close()
	select {
	case <-s.out.ended:
		return s.out.failure()
	case <-stuck:
		return errStuck
	}
}
