package worker

import (
	"slices"
	"sync"
	"time"
)

// recently is how long after a call further calls of its module are expected.
const recently = time.Second

// An activity records which modules are called. It is safe for concurrent use.
type activity struct {
	mu   sync.Mutex
	open []*guests // guarded by mu
}

func (a *activity) add(g *guests) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = append(a.open, g)
}

func (a *activity) remove(g *guests) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = slices.DeleteFunc(a.open, func(other *guests) bool { return other == g })
}

// othersActive reports whether another module than g was called recently.
func (a *activity) othersActive(g *guests) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.open, func(other *guests) bool { return other != g && other.calledRecently() })
}

func (g *guests) calledRecently() bool {
	called := time.Duration(g.called.Load())
	return called > 0 && time.Since(g.runner.made)-called < recently
}
