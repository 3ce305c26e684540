package worker

import (
	"slices"
	"sync"
	"time"
)

// recently is how long after a call further calls of its module are expected.
const recently = time.Second

// An activity records which of the modules that have a worker are called. It is safe for concurrent use.
type activity struct {
	mu      sync.Mutex
	workers []*worker // that are ready; guarded by mu
}

func (a *activity) add(w *worker) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.workers = append(a.workers, w)
}

func (a *activity) remove(w *worker) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.workers = slices.DeleteFunc(a.workers, func(other *worker) bool { return other == w })
}

// othersActive reports whether another module than g was called recently.
func (a *activity) othersActive(g *guests) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.workers, func(other *worker) bool { return other.guests != g && other.guests.calledRecently() })
}

func (g *guests) calledRecently() bool {
	called := time.Duration(g.called.Load())
	return called > 0 && time.Since(g.runner.made)-called < recently
}
