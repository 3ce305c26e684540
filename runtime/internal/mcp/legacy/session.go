package legacy

import (
	"cmp"
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/runtime/admission"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/coalesce"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

// A session is one client: its subscriptions, the changes it has not received yet, and its requests under way.
//
// Each subscription, and the list, is a subscription of the source with a context of its own. Changes are merged. One
// goroutine sends them: that of the GET stream or, on stdio, deliver.
type session struct {
	// fixed at creation
	front   *Front
	sdk     *sdk.ServerSession
	opened  time.Time
	owner   *auth.Caller    // who has opened it; nil when it is unknown
	ctx     context.Context // ended by terminate
	stopCtx context.CancelFunc
	// changes are those of watches that were not sent yet. Add is called with mu held.
	changes *coalesce.Set

	// guarded by the front's mu
	client       string // over HTTP, as [mcp.ClientOf] names it
	counted      bool   // in the quota
	closeAccount func() // uncounts the session for the account of its client; nil unless counted

	agreed atomic.Pointer[mcp.Revision] // nil until the handshake has ended

	mu          sync.Mutex // guards the fields below
	ended       bool
	watches     map[string]*watch // by URI; "" is the list
	stream      *stream           // over HTTP; nil while there is none
	leaveStream func()            // gives up the place of stream; nil while there is none
	// A session whose stream is open, or which has subscriptions to resources, counts as one stream of the client's account.
	streamUses int
	closeUse   func() // uncounts it; nil while streamUses is 0
	// lastEvent is the id of the last event of all streams; streamBegan is that of the last one before the newest stream.
	lastEvent, streamBegan uint64
	calls                  map[string]*deadline.Cancelable // by id, as it came; those of the SDK by "#" and a number
	lastCall               int
	// responses are those of POSTs that the SDK answers, by the id of each request, as it came.
	responses map[string]*response
	requests  int         // HTTP requests under way
	idle      *time.Timer // calls checkIdle; nil while the session cannot be idle
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
		calls:   make(map[string]*deadline.Cancelable),

		responses: make(map[string]*response),
	}
}

// isOf reports whether the client of ctx may use the session: the one that opened it, known by the principal, also with
// another credential. A session id is no credential.
func (s *session) isOf(ctx context.Context) bool { return auth.CallerOf(ctx).Name() == s.owner.Name() }

// name identifies the session for the core. There is one session on stdio in a process.
func (s *session) name() string { return cmp.Or(s.sdk.ID(), "stdio") }

// terminate ends the session and its subscriptions, unless it has ended or mayEnd, which is called with mu held, forbids it.
// Later requests are refused. It does not wait, and reports whether it has ended the session.
func (s *session) terminate(mayEnd func() bool) bool {
	if !s.markEnded(mayEnd) {
		return false
	}
	s.front.cfg.Core.EndSession(s.name())
	return true
}

func always() bool { return true }

func (s *session) markEnded(mayEnd func() bool) bool {
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
		s.unuseStreamLocked(w)
	}
	clear(s.watches)
	s.changes.Close()
	return true
}

// useStreamLocked counts the session as a stream for the account of the client of ctx, unless it counts already.
func (s *session) useStreamLocked(ctx context.Context) (failure *mcp.Error) {
	if s.streamUses == 0 {
		if s.closeUse, failure = mcp.OpenAccount(ctx, admission.Stream); failure != nil {
			return failure
		}
	}
	s.streamUses++
	return nil
}

// unuseStreamLocked undoes useStreamLocked for a watch that has ended; nil is the GET stream. That of the list did not count.
func (s *session) unuseStreamLocked(w *watch) {
	if w != nil && w.uri == "" {
		return
	}
	if s.streamUses--; s.streamUses == 0 {
		s.closeUse()
		s.closeUse = nil
	}
}

// cancelAll ends the session and cancels its requests. It does not wait.
func (s *session) cancelAll(cause error) {
	s.terminate(always)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, call := range s.calls {
		call.Cancel(cause)
	}
}

// close ends the session, cancels its requests and waits for them.
func (s *session) close(cause error) {
	s.cancelAll(cause)
	_ = s.sdk.Close()
}

// enter counts an HTTP request, which may be a stream. The session is not idle until leave. It reports false when the
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

// leave undoes enter.
func (s *session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaveLocked()
}

func (s *session) leaveLocked() {
	s.requests--
	s.used = time.Now()
	if s.requests > 0 || s.ended {
		return
	}
	if s.idle == nil {
		_, left := s.timeLeftLocked()
		s.idle = time.AfterFunc(left, s.checkIdle)
	}
}

// timeLeftLocked returns how long the session may still last without a request. extends says whether it lasts longer
// while a request is under way, which it does after the handshake.
func (s *session) timeLeftLocked() (extends bool, left time.Duration) {
	idle := s.front.cfg.Idle - time.Since(s.used)
	if s.agreed.Load() != nil {
		return true, idle
	}
	return false, min(idle, handshakeTime-time.Since(s.opened))
}

// checkIdle ends the session if it was idle for too long. Otherwise the timer calls checkIdle again.
func (s *session) checkIdle() { s.expire(errIdle, s.isOverdue) }

// isOverdue reports whether the session was idle for too long. If not, it sets the timer. mu is held.
func (s *session) isOverdue() bool {
	switch extends, left := s.timeLeftLocked(); {
	case extends && s.requests > 0:
		s.idle = nil // leave of the last request sets it again
	case left > 0:
		s.idle.Reset(left)
	default:
		return true
	}
	return false
}

// isUnused reports whether no request is under way. mu is held.
func (s *session) isUnused() bool { return s.requests == 0 }

// expire closes the session if isOver says so at that moment, and reports whether it did.
func (s *session) expire(cause error, isOver func() bool) bool {
	if !s.terminate(isOver) {
		return false
	}
	s.front.cfg.Logger.Debug("http session ended", "err", cause)
	s.close(cause)
	return true
}

// lastUse returns the end of the last HTTP request.
func (s *session) lastUse() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// begin counts an HTTP request that is answered without the SDK. close and cancel cancel it. It reports false when
// the session has ended, or has a call with that id.
func (s *session) begin(id string, request *deadline.Cancelable) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.calls[id] != nil {
		return false
	}
	s.calls[id] = request
	s.requests++
	return true
}

// end undoes begin.
func (s *session) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, id)
	s.leaveLocked()
}

// beginCall makes the context of a call that comes from the SDK, which close cancels. The caller calls finish.
func (s *session) beginCall(parent context.Context) (_ context.Context, finish func()) {
	ctx := deadline.NewCancelable(parent)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		ctx.Cancel(errEnded)
		return ctx, func() {}
	}
	s.lastCall++
	id := "#" + strconv.Itoa(s.lastCall)
	s.calls[id] = ctx
	return ctx, func() {
		s.mu.Lock()
		delete(s.calls, id)
		s.mu.Unlock()
		ctx.Cancel(nil)
	}
}

// cancel cancels the call with that id, and reports whether there is one. A nil session has none.
func (s *session) cancel(id string) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	call := s.calls[id]
	if call == nil {
		return false
	}
	call.Cancel(mcp.ErrCancelled)
	return true
}
