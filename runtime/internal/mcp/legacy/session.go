package legacy

import (
	"cmp"
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/runtime/internal/coalesce"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

// A session is one client: what it has subscribed to, what it has not been told yet, and what it has running.
//
// Each subscription is one of the source's, and the list is one more: a new subscription leaves the others alone, and the
// end of a context ends one. Changes are merged; one goroutine tells the client, that of its GET stream or, on stdio,
// deliver.
type session struct {
	// fixed at creation
	front   *Front
	sdk     *sdk.ServerSession
	opened  time.Time
	ctx     context.Context // ended by end
	stopCtx context.CancelFunc
	// changes are what the client has not been told yet, of watches. Add is called with mu held.
	changes *coalesce.Set

	// guarded by the front's mu
	client  string // over HTTP, as [mcp.ClientOf] names it
	counted bool   // among the client's

	agreed atomic.Pointer[mcp.Revision] // once the handshake is over; nil before

	mu          sync.Mutex // guards the fields below
	ended       bool
	watches     map[string]*watch // by URI; "" is the list
	stream      *stream           // over HTTP; nil while there is none
	leaveStream func()            // gives the place of stream back; nil while there is none
	// lastEvent is the id of the last event of a stream; streamBegan is that of the last one before the newest stream.
	lastEvent, streamBegan uint64
	calls                  map[string]context.CancelCauseFunc // by id, as it came, or by what no id is
	lastCall               int
	// responses are those of POSTs that the SDK answers, by the id of each request, as it came.
	responses map[string]*response
	requests  int         // HTTP requests under way
	idle      *time.Timer // looks whether the session is idle; nil before that can be
	used      time.Time   // the end of the last HTTP request
}

func newSession(f *Front, ss *sdk.ServerSession) *session {
	ctx, cancel := context.WithCancel(context.Background())
	return &session{
		front:   f,
		opened:  time.Now(),
		used:    time.Now(),
		sdk:     ss,
		ctx:     ctx,
		stopCtx: cancel,
		changes: coalesce.New(nil),
		watches: make(map[string]*watch),
		calls:   make(map[string]context.CancelCauseFunc),

		responses: make(map[string]*response),
	}
}

// name is by what others tell the session from others; a pipe has one that is the process's only.
func (s *session) name() string { return cmp.Or(s.sdk.ID(), "stdio") }

// end stops what the session watches and runs, unless it is over or mayEnd, which is called with mu held, forbids it. No
// request is admitted afterwards. It waits for nothing, and reports whether it has ended the session.
func (s *session) end(mayEnd func() bool) bool {
	if !s.stop(mayEnd) {
		return false
	}
	s.front.cfg.Core.EndSession(s.name())
	return true
}

func always() bool { return true }

func (s *session) stop(mayEnd func() bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || !mayEnd() {
		return false
	}
	s.ended = true
	s.stopCtx()
	if s.idle != nil {
		s.idle.Stop()
	}
	for _, w := range s.watches {
		w.cancel()
	}
	clear(s.watches)
	s.changes.Close()
	return true
}

// cut ends the session now: what runs is cancelled, not answered. It waits for nothing.
func (s *session) cut(cause error) {
	s.end(always)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cancel := range s.calls {
		cancel(cause)
	}
}

// abort cuts the session and waits for what ran.
func (s *session) abort(cause error) {
	s.cut(cause)
	_ = s.sdk.Close()
}

// enter counts an HTTP request; a session that has one under way, be it a stream, is not idle. It reports false when the
// session has ended.
func (s *session) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.requests++
	return true
}

// leave ends what enter began.
func (s *session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaveLocked()
}

func (s *session) leaveLocked() {
	s.requests--
	if s.requests > 0 || s.ended {
		return
	}
	s.used = time.Now()
	if s.idle == nil {
		_, left := s.patienceLocked()
		s.idle = time.AfterFunc(left, s.look)
	}
}

// patienceLocked gives how long the session may still go on without a request, and whether it may go on for longer while
// one is under way: not before the handshake is over, for which there is little time.
func (s *session) patienceLocked() (extends bool, left time.Duration) {
	idle := s.front.cfg.Idle - time.Since(s.used)
	if s.agreed.Load() != nil {
		return true, idle
	}
	return false, min(idle, handshakeTime-time.Since(s.opened))
}

// look ends the session if it has been idle for too long, or looks again when it may have been.
func (s *session) look() { s.expire(errIdle, s.isOverdue) }

// isOverdue reports whether the session is to end now. If not, it sees to it that look is called in time.
func (s *session) isOverdue() bool {
	switch extends, left := s.patienceLocked(); {
	case extends && s.requests > 0:
		s.idle = nil // the last request sets it again
	case left > 0:
		s.idle.Reset(left)
	default:
		return true
	}
	return false
}

// isUnused reports whether no request is under way.
func (s *session) isUnused() bool { return s.requests == 0 }

// expire ends the session, if isOver holds at that moment, and waits for what ran.
func (s *session) expire(cause error, isOver func() bool) bool {
	if !s.end(isOver) {
		return false
	}
	s.front.cfg.Logger.Debug("http session ended", "err", cause)
	s.abort(cause)
	return true
}

// lastUse gives the end of the last HTTP request.
func (s *session) lastUse() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// admit counts an HTTP request that is answered without the SDK, as enter does, which abort and cancel end by cancel. It
// reports false when the session has ended, or has a call with that id.
func (s *session) admit(id string, cancel context.CancelCauseFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.calls[id] != nil {
		return false
	}
	s.calls[id] = cancel
	s.requests++
	return true
}

// settle ends what admit began.
func (s *session) settle(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, id)
	s.leaveLocked()
}

// begin makes the context of a call of the SDK's, which abort ends too.
func (s *session) begin(ctx context.Context) (_ context.Context, finish func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		cancel(errEnded)
		return ctx, func() {}
	}
	s.lastCall++
	id := "#" + strconv.Itoa(s.lastCall)
	s.calls[id] = cancel
	return ctx, func() {
		s.mu.Lock()
		delete(s.calls, id)
		s.mu.Unlock()
		cancel(nil)
	}
}

// cancel ends the call with that id, and reports whether there is one. A nil session has none.
func (s *session) cancel(id string) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	end := s.calls[id]
	if end == nil {
		return false
	}
	end(mcp.ErrCancelled)
	return true
}
