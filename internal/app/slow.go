package app

import (
	"sync"
	"time"
)

// slowAfter is how long a module may load before that is reported.
const slowAfter = 300 * time.Millisecond

// announceSlow calls begin after slowAfter unless stop is called first. stop calls the function that begin has returned;
// after stop neither runs.
func announceSlow(begin func() (end func())) (stop func()) {
	var mu sync.Mutex
	var end func() // guarded by mu; nil until begin has returned
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

// loading reports that a module of size bytes takes a while to load, until the function it returns is called.
func (a *App) loading(size int) (end func()) {
	if a.cfg.Loading != nil {
		return a.cfg.Loading(a.cfg.From.Name(a.cfg.File), size)
	}
	began := time.Now()
	a.cfg.Logger.Info("module is still loading: it is compiled unless it is cached", "file", a.cfg.From.Name(a.cfg.File), "bytes", size)
	return func() {
		a.cfg.Logger.Info("module loaded", "file", a.cfg.From.Name(a.cfg.File), "took", slowAfter+time.Since(began))
	}
}
