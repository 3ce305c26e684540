package stdio

import (
	"runtime"
	"sync"
	"time"
)

// stall is for how long a job may wait before another goroutine joins a crew.
const stall = time.Millisecond

// A crew does jobs in the order they came: by few goroutines for as long as those are quick, which costs less than one
// for each job, and by more when all of them wait for something. The few stay until end.
type crew struct {
	// fixed at creation
	do   func(*flight)
	late func()
	few  int // goroutines when all is well
	most int

	mu      sync.Mutex // guards the fields below
	work    *sync.Cond // there is something to do for one of the idle
	idle    int        // goroutines that wait for work, and have not been called
	ended   bool
	jobs    []*flight // from next on
	next    int
	at      int // goroutines
	begun   int // jobs
	due     int // jobs that were there when it was last looked
	watch   *time.Timer
	watched bool // watch is set
}

// newCrew makes a crew of most goroutines at most. late is called whenever remind has asked for it, and may be at other
// times.
func newCrew(most int, do func(*flight), late func()) *crew {
	c := &crew{do: do, late: late, few: min(most, 4*runtime.GOMAXPROCS(0)), most: most}
	c.work = sync.NewCond(&c.mu)
	return c
}

// end lets all go who are idle, or will be.
func (c *crew) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended, c.idle = true, 0
	c.work.Broadcast()
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
	switch {
	case c.idle > 0:
		c.idle--
		c.work.Signal()
	case c.at < c.few:
		c.joinLocked()
	case !c.watched:
		c.watchLocked()
	}
}

func (c *crew) joinLocked() {
	c.at++
	go c.serve()
}

// serve does jobs until it is needed no more.
func (c *crew) serve() {
	for f := c.take(); f != nil; f = c.take() {
		c.do(f)
	}
}

// take waits for a job; nil when there will be none for who asks.
func (c *crew) take() *flight {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.next == len(c.jobs) {
		c.jobs, c.next = c.jobs[:0], 0
		if c.ended || c.at > c.few {
			c.at--
			return nil
		}
		c.idle++
		c.work.Wait()
	}
	f := c.jobs[c.next]
	c.jobs[c.next] = nil
	c.next++
	c.begun++
	return f
}

// more reports whether a job waits for who calls it from do.
func (c *crew) more() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.next < len(c.jobs)
}

// remind has late called some time from now.
func (c *crew) remind() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.watched {
		c.watchLocked()
	}
}

func (c *crew) watchLocked() {
	c.watched, c.due = true, c.begun+len(c.jobs)-c.next
	if c.watch == nil {
		c.watch = time.AfterFunc(stall, c.look)
		return
	}
	c.watch.Reset(stall)
}

// look has a goroutine join for each job that has waited for a while.
func (c *crew) look() {
	defer c.late() // when who has set the watch has left what it is about
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watched = false
	for late := c.due - c.begun; late > 0 && c.at < c.most; late-- {
		c.joinLocked()
	}
	if c.next < len(c.jobs) {
		c.watchLocked()
	}
}
