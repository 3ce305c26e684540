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
	sweep  *time.Timer // empties what is not used for long

	mu     sync.Mutex // guards the fields below, and used and wanted of each seat
	open   map[string]*seat
	closed bool
}

// A seat is the place of one session.
type seat struct {
	turn   chan struct{} // holds one token: who has it may use the instance
	inst   *sandbox      // nil until it is needed; owned by who has the turn
	used   time.Time
	wanted int // calls that have or wait for the turn
}

func newSeats(m *Module, most int) *seats {
	t := &seats{module: m, most: most, open: map[string]*seat{}}
	t.sweep = time.AfterFunc(m.cfg.Limits.Idle, t.dropIdle)
	return t
}

func (t *seats) take(ctx context.Context, session string) (*sandbox, error) {
	at, err := t.sit(session)
	if err != nil {
		return nil, err
	}
	select {
	case <-at.turn:
	case <-ctx.Done():
		t.rise(at)
		return nil, ctx.Err()
	}
	if at.inst == nil {
		inst, err := t.module.clone(ctx)
		if err != nil {
			t.pass(at)
			return nil, err
		}
		inst.seat, at.inst = at, inst
	}
	return at.inst, nil
}

// sit finds the seat of a session, or a free one.
func (t *seats) sit(session string) (*seat, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, ok := t.open[session]
	if !ok {
		if len(t.open) >= t.most && !t.evictLocked() {
			return nil, abi.Errorf(abi.CodeBusy, "%d sessions are busy already", t.most)
		}
		at = &seat{turn: make(chan struct{}, 1)}
		at.turn <- struct{}{}
		t.open[session] = at
	}
	at.wanted++
	return at, nil
}

// evictLocked empties the seat that was not used for longest, and reports whether there was one.
func (t *seats) evictLocked() bool {
	var oldest string
	var found *seat
	for session, at := range t.open {
		if at.wanted == 0 && (found == nil || at.used.Before(found.used)) {
			oldest, found = session, at
		}
	}
	if found == nil {
		return false
	}
	t.emptyLocked(oldest, found, errCrowded)
	return true
}

var errCrowded = errors.New("other sessions need the place")

// emptyLocked ends a session nobody wants anything of.
func (t *seats) emptyLocked(session string, at *seat, why error) {
	delete(t.open, session)
	if at.inst != nil {
		t.module.discard(at.inst, why)
	}
}

// rise gives up waiting for, or having, a seat.
func (t *seats) rise(at *seat) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at.wanted--
	at.used = time.Now()
}

// pass lets the next call of the session have its turn.
func (t *seats) pass(at *seat) {
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
	t.pass(at)
}

var errStopped = errors.New("the call was stopped halfway")

func (t *seats) settle() {}

// dropIdle ends the sessions nobody has asked anything in for Limits.Idle, again and again.
func (t *seats) dropIdle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	oldest := time.Now().Add(-t.module.cfg.Limits.Idle)
	for session, at := range t.open {
		if at.wanted == 0 && at.used.Before(oldest) {
			t.emptyLocked(session, at, errIdle)
		}
	}
	t.sweep.Reset(t.module.cfg.Limits.Idle)
}

func (t *seats) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.sweep.Stop()
	for session, at := range t.open {
		t.emptyLocked(session, at, errClosed)
	}
}
