package stdio

import (
	"runtime"
	"sync"
	"time"
)

// stall is for how long none of a crew may get anything done before another joins.
const stall = time.Millisecond

// A crew does jobs in the order they came: by few goroutines for as long as those are quick, which costs less than one
// for each job, and by more when all of them wait for something.
type crew struct {
	// fixed at creation
	do   func(*flight)
	few  int // goroutines when all is well
	most int

	mu      sync.Mutex // guards the fields below
	jobs    []*flight  // from next on
	next    int
	at      int // goroutines
	done    int // jobs begun
	seen    int // done, when it was last looked at
	watch   *time.Timer
	watched bool // watch is set
}

func newCrew(most int, do func(*flight)) *crew {
	c := &crew{do: do, few: min(most, 2*runtime.GOMAXPROCS(0)), most: most}
	return c
}

// add has a job done.
func (c *crew) add(f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next > 0 && c.next >= len(c.jobs)/2 { // there may always be one that waits
		n := copy(c.jobs, c.jobs[c.next:])
		clear(c.jobs[n:])
		c.jobs, c.next = c.jobs[:n], 0
	}
	c.jobs = append(c.jobs, f)
	if c.at < c.few {
		c.joinLocked()
		return
	}
	if !c.watched {
		c.watchLocked()
	}
}

func (c *crew) joinLocked() {
	c.at++
	go c.work()
}

// work does jobs until there are no more.
func (c *crew) work() {
	for f := c.take(); f != nil; f = c.take() {
		c.do(f)
	}
}

func (c *crew) take() *flight {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == len(c.jobs) {
		c.jobs, c.next = c.jobs[:0], 0
		c.at--
		return nil
	}
	f := c.jobs[c.next]
	c.jobs[c.next] = nil
	c.next++
	c.done++
	return f
}

func (c *crew) watchLocked() {
	c.watched, c.seen = true, c.done
	if c.watch == nil {
		c.watch = time.AfterFunc(stall, c.look)
		return
	}
	c.watch.Reset(stall)
}

// look has another goroutine join when jobs wait and none has been begun for a while.
func (c *crew) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watched = false
	if c.next == len(c.jobs) {
		return
	}
	if c.done == c.seen && c.at < c.most {
		c.joinLocked()
	}
	c.watchLocked()
}
