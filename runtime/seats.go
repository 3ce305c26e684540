package runtime

import (
	"context"
	"errors"
	"sync"
	"time"
)

// seats keep an instance for each session, with all that its calls leave in it. A call that did not come back by
// itself ends that: what it left may be halfway through something.
type seats struct {
	guests *local
	most   int

	mu     sync.Mutex // guards the fields below, and those of each seat
	open   map[string]*seat
	sweep  *time.Timer // runs dropIdle; nil when nobody sits
	closed bool
}

// A seat is the place of one session.
type seat struct {
	session string
	inst    *sandbox // nil while it is being made
	used    time.Time
	busy    bool // a call has the instance
	ended   bool // the session
}

func newSeats(l *local, most int) *seats {
	return &seats{guests: l, most: most, open: map[string]*seat{}}
}

func (t *seats) take(ctx context.Context, session string) (*sandbox, error) {
	at, evicted, err := t.sit(session)
	t.guests.discard(evicted, errCrowded)
	if err != nil {
		return nil, err
	}
	if at.inst != nil {
		return at.inst, nil
	}
	inst, err := t.guests.clone(ctx)
	if err != nil {
		t.free(at)
		return nil, err
	}
	inst.seat, at.inst = at, inst
	return inst, nil
}

// sit finds the seat of a session, or a free one.
func (t *seats) sit(session string) (at *seat, evicted *sandbox, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, ok := t.open[session]
	if !ok && len(t.open) >= t.most {
		if evicted, ok = t.evictLocked(); !ok {
			return nil, nil, t.guests.Host.BusyError("all sessions are busy")
		}
	}
	if at == nil {
		at = &seat{session: session}
		t.open[session] = at
	}
	at.busy = true
	if t.sweep == nil && !t.closed {
		t.sweep = time.AfterFunc(t.guests.Limits.Idle, t.dropIdle)
	}
	return at, evicted, nil
}

// evictLocked empties the seat that was not used for longest, and reports whether there was one.
func (t *seats) evictLocked() (evicted *sandbox, ok bool) {
	var oldest *seat
	for _, at := range t.open {
		if !at.busy && (oldest == nil || at.used.Before(oldest.used)) {
			oldest = at
		}
	}
	if oldest == nil {
		return nil, false
	}
	delete(t.open, oldest.session)
	return oldest.inst, true
}

func (t *seats) give(s *sandbox) {
	stopped := s.broken || s.stopped
	at := s.seat
	t.mu.Lock()
	ended := at.ended
	at.busy, at.used = false, time.Now()
	if stopped || ended {
		delete(t.open, at.session)
	}
	t.mu.Unlock()
	switch {
	case stopped:
		t.guests.discard(s, errStopped)
	case ended:
		t.guests.discard(s, errEnded)
	}
}

// free gives up a seat that has got no instance.
func (t *seats) free(at *seat) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, at.session)
}

func (t *seats) settle() {}

// end forgets a session, once its call that is under way has ended.
func (t *seats) end(session string) {
	t.mu.Lock()
	var last *sandbox
	switch at := t.open[session]; {
	case at == nil:
	case at.busy:
		at.ended = true
	default:
		delete(t.open, session)
		last = at.inst
	}
	t.mu.Unlock()
	t.guests.discard(last, errEnded)
}

// dropIdle ends the sessions nobody has asked anything in for Limits.Idle, again and again.
func (t *seats) dropIdle() {
	oldest := time.Now().Add(-t.guests.Limits.Idle)
	t.mu.Lock()
	idle := t.emptyLocked(func(at *seat) bool { return !at.busy && !at.used.After(oldest) })
	t.sweep = nil
	if !t.closed && len(t.open) > 0 {
		t.sweep = time.AfterFunc(t.guests.Limits.Idle, t.dropIdle)
	}
	t.mu.Unlock()
	t.guests.discardAll(idle, errIdle)
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
	t.guests.discardAll(all, errClosed)
}

// Why instances are discarded.
var (
	errCrowded = errors.New("other sessions need the place")
	errStopped = errors.New("the call was stopped halfway")
	errEnded   = errors.New("the session has ended")
	errIdle    = errors.New("not used for long")
	errClosed  = errors.New("the module is closing")
)
