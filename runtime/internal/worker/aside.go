package worker

import (
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/process"
)

// patience is how long a call may take before its worker stands aside, if others are there.
const patience = stall

// aside counts the reasons for which a worker stands aside: it starts, or a call takes long. It is safe for concurrent use.
type aside struct {
	mu      sync.Mutex
	reasons int // guarded by mu
}

// step adds a reason.
func (a *aside) step(p *process.Process) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.reasons++; a.reasons == 1 {
		p.SetBackground(true)
	}
}

// back takes one away.
func (a *aside) back(p *process.Process) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.reasons--; a.reasons == 0 {
		p.SetBackground(false)
	}
}

// settle has a worker not stand aside any more because it starts.
func (w *worker) settle() {
	if !w.settled {
		w.settled = true
		w.aside.back(w.process)
	}
}

// linger has the worker stand aside until the call under way ends, if others are there. Otherwise it says when to look
// again: the later the longer the call has taken.
func (l *link) linger() (again time.Duration) {
	w := l.worker
	if !l.hearing.Load() && w.runner.crowd.beside(w.guests) && l.aside.CompareAndSwap(false, true) {
		w.aside.step(w.process)
		if l.due.Load() == 0 { // the call has ended meanwhile
			l.back()
		}
	}
	again = min(2*time.Duration(l.glance.Load()), lately)
	l.glance.Store(int64(again))
	return again
}

// back ends what linger has begun.
func (l *link) back() {
	if l.aside.Swap(false) {
		l.worker.aside.back(l.worker.process)
	}
}
