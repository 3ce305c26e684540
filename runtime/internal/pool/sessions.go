package pool

import (
	"context"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/instance"
)

// sessions store an instance for each session, with the state that its calls leave. A call that does not return by
// itself ends the session, since its state may be inconsistent.
type sessions struct {
	factory *instance.Factory
	most    int

	mu     sync.Mutex // guards the fields below, and those of each session
	open   map[string]*session
	used   map[*instance.Instance]*session // instances that calls have
	sweep  *time.Timer                     // runs dropIdle; nil when there is no session
	closed bool
}

// A session has its own instance.
type session struct {
	id    string
	inst  *instance.Instance // nil while it is being made
	used  time.Time
	busy  bool          // a call has the instance
	ended bool          // the session
	freed chan struct{} // closed when that call ends; nil while no other call waits for it
}

func newSessions(f *instance.Factory, most int) *sessions {
	return &sessions{factory: f, most: most, open: map[string]*session{}, used: map[*instance.Instance]*session{}}
}

func (t *sessions) acquire(ctx context.Context, id string) (*instance.Instance, error) {
	at, evicted, err := t.lock(ctx, id)
	t.factory.Discard(evicted, errEvicted)
	if err != nil {
		return nil, err
	}
	if at.inst == nil {
		if at.inst, err = t.factory.New(ctx); err != nil {
			t.drop(at)
			return nil, err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.used[at.inst] = at
	return at.inst, nil
}

// lock makes the session of an id busy, and makes the session if there is none. While another call has the session,
// lock waits until that call ends or ctx does. Behind a limiter no call waits here. A worker has no limiter: that of
// the parent orders the calls, by the lifecycle in the first worker's manifest. If a guest's manifest differs between
// workers, the parent may send two calls of one session at once.
func (t *sessions) lock(ctx context.Context, id string) (at *session, evicted *instance.Instance, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for at = t.open[id]; at != nil && at.busy; at = t.open[id] {
		if err := t.awaitLocked(ctx, at); err != nil {
			return nil, nil, err
		}
	}
	if at == nil {
		if at, evicted, err = t.addLocked(id); err != nil {
			return nil, nil, err
		}
	}
	at.busy = true
	if t.sweep == nil && !t.closed {
		t.sweep = time.AfterFunc(t.factory.Limits.Idle, t.dropIdle)
	}
	return at, evicted, nil
}

// awaitLocked waits until the call that has a session ends. It does not hold mu meanwhile.
func (t *sessions) awaitLocked(ctx context.Context, at *session) error {
	if at.freed == nil {
		at.freed = make(chan struct{})
	}
	freed := at.freed
	t.mu.Unlock()
	defer t.mu.Lock()
	select {
	case <-freed:
		return nil
	case <-ctx.Done():
		return t.factory.Host.ContextError(ctx)
	}
}

// unlockLocked ends the effect of lock.
func (at *session) unlockLocked() {
	at.busy = false
	if at.freed != nil {
		close(at.freed)
		at.freed = nil
	}
}

// addLocked adds a session, for which another one may be evicted.
func (t *sessions) addLocked(id string) (at *session, evicted *instance.Instance, err error) {
	if len(t.open) >= t.most {
		var ok bool
		if evicted, ok = t.evictLocked(); !ok {
			return nil, nil, t.factory.Host.BusyError("all sessions are busy")
		}
	}
	at = &session{id: id}
	t.open[id] = at
	return at, evicted, nil
}

// evictLocked removes the session that was not used for longest, and reports whether there was one.
func (t *sessions) evictLocked() (evicted *instance.Instance, ok bool) {
	var oldest *session
	for _, at := range t.open {
		if !at.busy && (oldest == nil || at.used.Before(oldest.used)) {
			oldest = at
		}
	}
	if oldest == nil {
		return nil, false
	}
	delete(t.open, oldest.id)
	return oldest.inst, true
}

func (t *sessions) release(s *instance.Instance) {
	stopped := s.IsStopped()
	t.mu.Lock()
	at := t.used[s]
	delete(t.used, s)
	ended := at.ended
	at.used = time.Now()
	at.unlockLocked()
	if stopped || ended {
		delete(t.open, at.id)
	}
	t.mu.Unlock()
	switch {
	case stopped:
		t.factory.Discard(s, errStopped)
	case ended:
		t.factory.Discard(s, errEnded)
	}
}

// drop removes a session without an instance.
func (t *sessions) drop(at *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at.unlockLocked()
	delete(t.open, at.id)
}

func (t *sessions) resetUsed() {}

// endSession removes a session when its call under way has ended.
func (t *sessions) endSession(id string) {
	t.mu.Lock()
	var last *instance.Instance
	switch at := t.open[id]; {
	case at == nil:
	case at.busy:
		at.ended = true
	default:
		delete(t.open, id)
		last = at.inst
	}
	t.mu.Unlock()
	t.factory.Discard(last, errEnded)
}

// dropIdle ends the sessions that were not used for Limits.Idle, and schedules itself again.
func (t *sessions) dropIdle() {
	oldest := time.Now().Add(-t.factory.Limits.Idle)
	t.mu.Lock()
	idle := t.emptyLocked(func(at *session) bool { return !at.busy && !at.used.After(oldest) })
	t.sweep = nil
	if !t.closed && len(t.open) > 0 {
		t.sweep = time.AfterFunc(t.factory.Limits.Idle, t.dropIdle)
	}
	t.mu.Unlock()
	t.factory.DiscardAll(idle, errIdle)
}

// emptyLocked removes the sessions that meet a condition, and returns their instances.
func (t *sessions) emptyLocked(condition func(*session) bool) (emptied []*instance.Instance) {
	for id, at := range t.open {
		if condition(at) {
			delete(t.open, id)
			emptied = append(emptied, at.inst)
		}
	}
	return emptied
}

func (t *sessions) close() {
	t.mu.Lock()
	t.closed = true
	if t.sweep != nil {
		t.sweep.Stop()
	}
	all := t.emptyLocked(func(*session) bool { return true })
	t.mu.Unlock()
	t.factory.DiscardAll(all, errClosed)
}

// owns reports whether a call has acquired the instance here.
func (t *sessions) owns(s *instance.Instance) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.used[s] != nil
}
