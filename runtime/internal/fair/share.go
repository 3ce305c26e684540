package fair

import (
	"container/heap"
	"context"
	"sync/atomic"
	"time"
)

// MaxWeight is the greatest weight of a share.
const MaxWeight = 1000

// A Share has the turns of one owner. It is safe for concurrent use. It needs no closing. The nil Share has no queue: its turns get
// no slots and wait for nothing.
type Share struct {
	queue    *Queue       // fixed at creation
	weight   atomic.Int32 // at least 1
	estimate atomic.Int64 // mean processor time of its calls, in nanoseconds
	last     atomic.Int32 // the slot that one of its turns had last
	charged  atomic.Int64 // by Charge, in nanoseconds

	debt      atomic.Int64  // processor time that is not in paid yet, in nanoseconds
	debtEpoch atomic.Uint64 // the epoch of the queue in which debt was used

	// guarded by Queue.mu
	index    int     // in the heap; -1 if no turn waits
	paid     float64 // processor time used, in nanoseconds, divided by the weight
	reserved float64 // likewise, what turns that run are expected to use
	epoch    uint64  // of the queue, in which that was paid
	counted  int64   // its weight while a turn waits, in Queue.weights
	lines    [2]line
}

// The lines of a share. Turns of calls that have begun come first: they hold memory, and perhaps a transaction.
const (
	begun = iota
	fresh
)

// NewShare makes a share with a weight of 1 to MaxWeight; other weights count as the nearest one.
func (q *Queue) NewShare(weight int) *Share {
	s := &Share{queue: q, index: -1}
	s.SetWeight(weight)
	return s
}

// SetWeight sets the weight from now on.
func (s *Share) SetWeight(weight int) {
	if s != nil {
		s.weight.Store(int32(min(max(weight, 1), MaxWeight)))
	}
}

// Charge makes the share pay for processor time that was used for it outside of turns, as by a compiler. While no turn of the queue
// waits, that has no effect but on Charged.
func (s *Share) Charge(used time.Duration) {
	if s == nil || used <= 0 {
		return
	}
	s.charged.Add(int64(used))
	if s.queue.busy.Load() {
		s.owe(used)
	}
}

// Charged returns all that Charge was called with.
func (s *Share) Charged() time.Duration {
	if s == nil {
		return 0
	}
	return time.Duration(s.charged.Load())
}

type shareKey struct{}

// Context returns a context whose work s pays for: see [ShareOf].
func (s *Share) Context(ctx context.Context) context.Context {
	if s == nil {
		return ctx
	}
	return context.WithValue(ctx, shareKey{}, s)
}

// ShareOf returns the share that pays for the work of a context; nil for none.
func ShareOf(ctx context.Context) *Share {
	s, _ := ctx.Value(shareKey{}).(*Share)
	return s
}

// Waiting returns how many turns wait now.
func (s *Share) Waiting() int {
	if s == nil {
		return 0
	}
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	return s.lines[begun].length + s.lines[fresh].length
}

// owe adds processor time of the present epoch.
func (s *Share) owe(used time.Duration) {
	now := s.queue.epoch.Load()
	if was := s.debtEpoch.Load(); was != now && s.debtEpoch.CompareAndSwap(was, now) {
		s.debt.Store(0)
	}
	s.debt.Add(int64(used))
}

// tag is by what shares are ordered. The caller holds Queue.mu.
func (s *Share) tag() float64 { return s.paid + s.reserved }

// settleLocked pays the debt, and reports whether the tag has changed. In a new epoch no share is behind others.
func (s *Share) settleLocked() (changed bool) {
	now := s.queue.epoch.Load()
	if s.epoch != now {
		s.epoch, s.paid, s.reserved, changed = now, s.queue.virtual, 0, true
	}
	if s.debtEpoch.Load() == now {
		if debt := s.debt.Swap(0); debt != 0 {
			s.paid += s.cost(time.Duration(debt))
			changed = true
		}
	}
	if changed {
		s.fixLocked()
	}
	return changed
}

// cost returns by how much a tag grows for processor time.
func (s *Share) cost(used time.Duration) float64 { return float64(used) / float64(s.weight.Load()) }

// fixLocked moves the share to its place after a change of its tag.
func (s *Share) fixLocked() {
	if s.index >= 0 {
		heap.Fix(&s.queue.ready, s.index)
	}
}

// firstLocked returns the turn that is next; nil if none waits.
func (s *Share) firstLocked() *Turn {
	if t := s.lines[begun].first; t != nil {
		return t
	}
	return s.lines[fresh].first
}

// learn notes what a call has used.
func (s *Share) learn(used time.Duration) {
	mean := s.estimate.Load()
	s.estimate.Store(mean + (int64(used)-mean)/8) // one of two at the same time may be lost
}

// A line is a list of turns that wait.
type line struct {
	first, last *Turn
	length      int
}

func (l *line) push(t *Turn) {
	t.line, t.before, t.after = l, l.last, nil
	if l.last == nil {
		l.first = t
	} else {
		l.last.after = t
	}
	l.last = t
	l.length++
}

func (l *line) remove(t *Turn) {
	if t.before == nil {
		l.first = t.after
	} else {
		t.before.after = t.after
	}
	if t.after == nil {
		l.last = t.before
	} else {
		t.after.before = t.before
	}
	t.line, t.before, t.after = nil, nil, nil
	l.length--
}
