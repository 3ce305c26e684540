// Package turns shares a few slots for long work among owners: they take turns, and none has all slots.
package turns

import (
	"context"
	"slices"
	"sync"
)

// A Line has the slots, and the work that waits for one. It is safe for concurrent use. It needs no closing.
type Line struct {
	each int // slots of one owner, at most; fixed at creation

	mu      sync.Mutex // guards the fields below
	free    int
	owners  map[string]*owner // that have work
	waiting []*waiter         // in the order in which they came
	served  uint64            // how much work has begun
}

// An owner has work that runs or waits.
type owner struct {
	running, waiting int
	last             uint64 // Line.served when its last work began; 0 for never
}

type waiter struct {
	owner string
	begin chan struct{} // closed when it has a slot
}

// New makes a Line with at least one slot. One owner has all but one of them at most, or the only one.
func New(slots int) *Line {
	slots = max(slots, 1)
	return &Line{each: max(slots-1, 1), free: slots, owners: map[string]*owner{}}
}

// Enter waits for a slot, until ctx ends; then the error is its cause. The owner is served next that has the fewest slots, of these
// the one whose last turn was the longest ago. An empty owner may have all slots. The caller calls leave once.
func (l *Line) Enter(ctx context.Context, of string) (leave func(), err error) {
	w := &waiter{of, make(chan struct{})}
	l.mu.Lock()
	if l.owners[of] == nil {
		l.owners[of] = &owner{}
	}
	l.owners[of].waiting++
	l.waiting = append(l.waiting, w)
	l.dispatchLocked()
	l.mu.Unlock()
	select {
	case <-w.begin:
		return func() { l.leave(of) }, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-w.begin: // at the same time
		return func() { l.leave(of) }, nil
	default:
	}
	l.removeLocked(w)
	return nil, context.Cause(ctx)
}

// removeLocked ends the wait of some work.
func (l *Line) removeLocked(w *waiter) {
	l.waiting = slices.DeleteFunc(l.waiting, func(o *waiter) bool { return o == w })
	l.owners[w.owner].waiting--
	l.forgetLocked(w.owner)
}

// forgetLocked forgets an owner that has no work.
func (l *Line) forgetLocked(of string) {
	if o := l.owners[of]; o.running+o.waiting == 0 {
		delete(l.owners, of)
	}
}

func (l *Line) leave(of string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free++
	l.owners[of].running--
	l.dispatchLocked()
	l.forgetLocked(of)
}

// dispatchLocked gives the free slots away.
func (l *Line) dispatchLocked() {
	for l.free > 0 {
		w := l.nextLocked()
		if w == nil {
			return
		}
		o := l.owners[w.owner]
		l.served++
		o.running++
		o.last = l.served
		l.free--
		l.removeLocked(w)
		close(w.begin)
	}
}

// nextLocked returns the work whose turn it is; nil for none.
func (l *Line) nextLocked() (next *waiter) {
	var best *owner
	for _, w := range l.waiting {
		o := l.owners[w.owner]
		if w.owner != "" && o.running >= l.each {
			continue
		}
		if best == nil || o.running < best.running || o.running == best.running && o.last < best.last {
			next, best = w, o
		}
	}
	return next
}
