//go:build linux

package hostile_test

import (
	goruntime "runtime"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/attack"
)

// A neighbour is another tenant: a goroutine that works a little every millisecond, and one that collects garbage, which
// stops the world and so waits for any goroutine that cannot be stopped.
type neighbour struct {
	clock *attack.ClockWatch
	quit  chan struct{}
	done  sync.WaitGroup
}

func watch() *neighbour {
	n := &neighbour{clock: attack.WatchClock(), quit: make(chan struct{})}
	n.done.Go(n.collect)
	return n
}

// stop returns the longest time in which the neighbour could not do anything.
func (n *neighbour) stop() time.Duration {
	close(n.quit)
	n.done.Wait()
	return n.clock.Stop()
}

func (n *neighbour) collect() {
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-n.quit:
			return
		case <-ticker.C:
			goruntime.GC()
		}
	}
}
