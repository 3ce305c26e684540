package runtime

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// seats keep an instance for each session, with all that its calls leave in it. A call that did not come back by
// itself ends that: what it left may be halfway through something. Calls of one session take turns.
type seats struct {
	module *Module
	most   int

	mu     sync.Mutex // guards the fields below, and used and wanted of each seat
	open   map[string]*seat
	sweep  *time.Timer // runs dropIdle; nil when nobody sits
	closed bool
}

// A seat is the place of one session.
type seat struct {
	session string
	turn    chan struct{} // holds one token: who has it may use the instance
	inst    *sandbox      // nil until it is needed; owned by who has the turn, or by who closes the seat
	used    time.Time
	wanted  int // calls that have or wait for the turn
	ended   bool
}

// maxWaiting is how many calls of one session may have or wait for its turn.
const maxWaiting = 1000

func newSeats(m *Module, most int) *seats {
	return &seats{module: m, most: most, open: map[string]*seat{}}
}

func (t *seats) queue(ctx context.Context, session string) (*seat, error) {
	at, err := t.sit(session)
	if err != nil {
		return nil, err
	}
	if err := t.module.await(ctx, at.turn, "the session is busy"); err != nil {
		t.rise(at)
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		t.leave(at)
		return nil, err
	}
	return at, nil
}

func (t *seats) take(ctx context.Context, at *seat) (*sandbox, error) {
	if at.inst == nil {
		inst, err := t.module.clone(ctx)
		if err != nil {
			t.leave(at)
			return nil, err
		}
		inst.seat, at.inst = at, inst
	}
	return at.inst, nil
}

// sit finds the seat of a session, or a free one.
func (t *seats) sit(session string) (*seat, error) {
	at, evicted, err := t.find(session)
	t.module.discard(evicted, errCrowded)
	return at, err
}

func (t *seats) find(session string) (at *seat, evicted *sandbox, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, ok := t.open[session]
	switch {
	case ok && at.wanted == maxWaiting:
		return nil, nil, t.module.busy("the session is busy")
	case !ok && len(t.open) >= t.most:
		if evicted, ok = t.evictLocked(); !ok {
			return nil, nil, t.module.busy("all sessions are busy")
		}
		fallthrough
	case !ok:
		at = &seat{session: session, turn: make(chan struct{}, 1)}
		at.turn <- struct{}{}
		t.open[session] = at
	}
	at.wanted++
	if t.sweep == nil && !t.closed {
		t.sweep = time.AfterFunc(t.module.cfg.Limits.Idle, t.dropIdle)
	}
	return at, evicted, nil
}

// evictLocked empties the seat that was not used for longest, and reports whether there was one.
func (t *seats) evictLocked() (evicted *sandbox, ok bool) {
	var oldest string
	var found *seat
	for session, at := range t.open {
		if at.wanted == 0 && (found == nil || at.used.Before(found.used)) {
			oldest, found = session, at
		}
	}
	if found == nil {
		return nil, false
	}
	delete(t.open, oldest)
	return found.inst, true
}

// rise gives up waiting for, or having, a seat.
func (t *seats) rise(at *seat) {
	t.mu.Lock()
	at.wanted--
	at.used = time.Now()
	last := t.emptyEndedLocked(at)
	t.mu.Unlock()
	t.module.discard(last, errEnded)
}

// emptyEndedLocked forgets a session that has ended, once nobody wants anything of it, and gives its instance.
func (t *seats) emptyEndedLocked(at *seat) *sandbox {
	if !at.ended || at.wanted > 0 || t.open[at.session] != at {
		return nil
	}
	delete(t.open, at.session)
	return at.inst
}

// leave lets the next call of the session have its turn.
func (t *seats) leave(at *seat) {
	at.turn <- struct{}{}
	t.rise(at)
}

func (t *seats) give(s *sandbox) {
	at := s.seat
	if s.broken || s.call.stopped {
		at.inst = nil
		t.module.discard(s, errStopped)
	}
	s.forget()
	t.leave(at)
}

func (t *seats) settle() {}

// end forgets a session, once its calls that are under way have ended.
func (t *seats) end(session string) {
	t.mu.Lock()
	var last *sandbox
	if at := t.open[session]; at != nil {
		at.ended = true
		last = t.emptyEndedLocked(at)
	}
	t.mu.Unlock()
	t.module.discard(last, errEnded)
}

// dropIdle ends the sessions nobody has asked anything in for Limits.Idle, again and again.
func (t *seats) dropIdle() {
	oldest := time.Now().Add(-t.module.cfg.Limits.Idle)
	t.mu.Lock()
	idle := t.emptyLocked(func(at *seat) bool { return at.wanted == 0 && !at.used.After(oldest) })
	t.sweep = nil
	if !t.closed && len(t.open) > 0 {
		t.sweep = time.AfterFunc(t.module.cfg.Limits.Idle, t.dropIdle)
	}
	t.mu.Unlock()
	t.module.discardAll(idle, errIdle)
}

// emptyLocked forgets the sessions that meet a condition, and gives their instances.
func (t *seats) emptyLocked(condition func(*seat) bool) (emptied []*sandbox) {
	for session, at := range t.open {
		if condition(at) {
			delete(t.open, session)
			emptied = append(emptied, at.inst)
		}
	}
	return emptied
}

func (t *seats) close() {
	t.mu.Lock()
	t.closed = true
	if t.sweep != nil {
		t.sweep.Stop()
	}
	all := t.emptyLocked(func(*seat) bool { return true })
	t.mu.Unlock()
	t.module.discardAll(all, errClosed)
}

// Why instances are discarded.
var (
	errCrowded = errors.New("other sessions need the place")
	errStopped = errors.New("the call was stopped halfway")
	errEnded   = errors.New("the session has ended")
	errIdle    = errors.New("not used for long")
	errClosed  = errors.New("the module is closing")
)

// busy says that something is, and when to try again.
func (m *Module) busy(what string) *abi.Error {
	e := abi.Errorf(abi.CodeBusy, "%s", what)
	e.RetryAfter = m.cfg.Limits.Timeout
	return e
}
