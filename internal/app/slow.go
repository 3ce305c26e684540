package app

import (
	"sync"
	"time"
)

// slowAfter is for how long a module may load before the operator is told.
const slowAfter = 300 * time.Millisecond

// announceSlow calls begin when what follows takes longer than slowAfter, and what begin returns when stop is called.
// Nothing of it runs once stop has returned.
func announceSlow(begin func() (end func())) (stop func()) {
	var mu sync.Mutex
	var end func() // guarded by mu; nil before begin was called
	over := false  // guarded by mu
	timer := time.AfterFunc(slowAfter, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			end = begin()
		}
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		if over = true; end != nil {
			end()
		}
	}
}

// loading tells the operator that a module of so many bytes takes a while to load, until the function it returns is called.
func (a *App) loading(size int) (end func()) {
	if a.cfg.Loading != nil {
		return a.cfg.Loading(a.cfg.File, size)
	}
	began := time.Now()
	a.cfg.Logger.Info("loading a module takes a while: it has to be compiled, unless it is in the cache", "file", a.cfg.File, "bytes", size)
	return func() {
		a.cfg.Logger.Info("module loaded", "file", a.cfg.File, "took", slowAfter+time.Since(began))
	}
}
