package attack

import (
	"sync"
	"time"
)

// A ClockWatch measures for how long its process could not run, while it had nothing else to do: what the machine was too busy
// for is no fault of the runtime. Make it with [WatchClock].
type ClockWatch struct {
	quit  chan struct{}
	done  sync.WaitGroup
	worst time.Duration // owned by the goroutine until done
}

// WatchClock starts a ClockWatch. The caller stops it.
func WatchClock() *ClockWatch {
	w := &ClockWatch{quit: make(chan struct{})}
	w.done.Go(w.watch)
	return w
}

// Stop ends the watch, and returns the longest time for which the process could not run. It is called once.
func (w *ClockWatch) Stop() time.Duration {
	close(w.quit)
	w.done.Wait()
	return w.worst
}

func (w *ClockWatch) watch() {
	const pause = time.Millisecond
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for last := time.Now(); ; {
		select {
		case <-w.quit:
			return
		case <-ticker.C:
		}
		now := time.Now()
		w.worst = max(w.worst, now.Sub(last)-pause)
		last = now
	}
}
