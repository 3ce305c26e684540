package link

import (
	"sync"
	"time"
)

const (
	// backgroundAfter is how long a call may take before its worker runs in the background, if others are called.
	backgroundAfter = maxQueueTime
	// maxCheckInterval bounds the time between two checks of a long call.
	maxCheckInterval = time.Second
)

// A background counts the reasons for which a worker runs in the background: its start, or long calls. It is safe for
// concurrent use.
type background struct {
	mu      sync.Mutex
	reasons int // guarded by mu
}

func (b *background) add(p Process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reasons++; b.reasons == 1 {
		p.SetBackground(true)
	}
}

func (b *background) remove(p Process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reasons--; b.reasons == 0 {
		p.SetBackground(false)
	}
}

// BeginBackground makes the worker run in the background until EndBackground.
func (s *Set) BeginBackground() { s.background.add(s.cfg.Process) }

// EndBackground ends the effect of BeginBackground.
func (s *Set) EndBackground() { s.background.remove(s.cfg.Process) }

// checkLongCall makes the worker run in the background until the call under way ends, if other modules are called. It
// returns the time until the next check, which grows with the time of the call.
func (l *link) checkLongCall() (again time.Duration) {
	p := l.set.cfg.Process
	if !l.inParent.Load() && p.Contended() && l.isLong.CompareAndSwap(false, true) {
		l.set.background.add(p)
		if l.due.Load() == 0 { // the call has ended meanwhile
			l.endBackground()
		}
	}
	again = min(2*time.Duration(l.checkInterval.Load()), maxCheckInterval)
	l.checkInterval.Store(int64(again))
	return again
}

// endBackground ends the effect of checkLongCall.
func (l *link) endBackground() {
	if l.isLong.Swap(false) {
		l.set.background.remove(l.set.cfg.Process)
	}
}
