//go:build linux

package hostile_test

import (
	goruntime "runtime"
	"sync"
	"time"
)

// A neighbour is another tenant: a goroutine that works a little every millisecond, and one that collects garbage, which
// stops the world and so waits for any goroutine that cannot be stopped.
type neighbour struct {
	quit  chan struct{}
	done  sync.WaitGroup
	worst time.Duration // owned by the ticking goroutine until done
}

func watch() *neighbour {
	n := control()
	n.done.Go(n.collect)
	return n
}

// control is a neighbour in a process where nothing happens: it has to wait only when the whole machine is busy.
func control() *neighbour {
	n := &neighbour{quit: make(chan struct{})}
	n.done.Go(n.tick)
	return n
}

// stop says what the longest time was in which the neighbour could not do anything.
func (n *neighbour) stop() time.Duration {
	close(n.quit)
	n.done.Wait()
	return n.worst
}

// await waits for the next tick, or reports that it is over.
func (n *neighbour) await(ticker *time.Ticker) bool {
	select {
	case <-n.quit:
		return false
	case <-ticker.C:
		return true
	}
}

func (n *neighbour) tick() {
	const pause = time.Millisecond
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for last := time.Now(); n.await(ticker); {
		now := time.Now()
		n.worst = max(n.worst, now.Sub(last)-pause)
		last = now
	}
}

func (n *neighbour) collect() {
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for n.await(ticker) {
		goruntime.GC()
	}
}
