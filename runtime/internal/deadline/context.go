// Package deadline bounds calls: it has a context with a deadline that can be moved, one that can be cancelled, which both cost one
// allocation until a goroutine waits for them, and a watch over many short waits.
package deadline

import (
	"context"
	"sync"
	"time"
)

// A Context ends with its parent, at a deadline that may move, or when it is released. [New] makes one; its user must
// release it. It is safe for concurrent use, but for Extend, which only the goroutine that made
// it calls.
//
// It has no timer and no channel until a goroutine waits for it, which few calls need: guests look at the clock in their
// ticks. It keeps one timer at most, however often the deadline moves.
type Context struct {
	parent context.Context
	began  time.Time

	mu       sync.Mutex // guards the fields below
	deadline time.Time  // written by the goroutine that makes the call, which may read it without mu
	ended    error      // nil until the context has ended
	waited   *waited    // nil until a goroutine waits for the end
}

// waited is what a context that goroutines wait for has.
type waited struct {
	done   chan struct{}        // closed when ended is set
	timer  *time.Timer          // expires at the deadline or before
	follow func() bool          // ends the wait for the end of the parent
	after  map[*func()]struct{} // what AfterFunc is to call
}

// New returns a context that ends with parent, and after timeout at the latest.
func New(parent context.Context, timeout time.Duration) *Context {
	began := time.Now()
	c := &Context{parent: parent, began: began, deadline: began.Add(timeout)}
	if sooner, ok := parent.Deadline(); ok && sooner.Before(c.deadline) {
		c.deadline = sooner
	}
	return c
}

// Deadline implements [context.Context].
func (c *Context) Deadline() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.deadline, true
}

// Value implements [context.Context].
func (c *Context) Value(key any) any { return c.parent.Value(key) }

// Err implements [context.Context].
func (c *Context) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.checkLocked()
}

// checkLocked ends the context if its parent has ended or the deadline has passed.
func (c *Context) checkLocked() error {
	if c.ended != nil {
		return c.ended
	}
	if err := c.parent.Err(); err != nil {
		c.endLocked(err)
	} else if !time.Now().Before(c.deadline) {
		c.endLocked(context.DeadlineExceeded)
	}
	return c.ended
}

// Extend moves the deadline, unless it is later already or the context has ended. Only the goroutine that made the
// context calls it.
func (c *Context) Extend(deadline time.Time) {
	if !deadline.After(c.deadline) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = deadline // the timer finds it later when it expires
}

// Began returns the time at which the context was made.
func (c *Context) Began() time.Time { return c.began }

// IsCancelled reports whether the parent has ended, without a look at the clock.
func (c *Context) IsCancelled() bool { return c.parent.Err() != nil }

// Cancelled returns the channel that is closed when the parent ends. Unlike Done it takes no timer.
func (c *Context) Cancelled() <-chan struct{} { return c.parent.Done() }

// AfterCancel calls a function, on a goroutine of its own, when the parent ends; not at the deadline. stop ends the wait, and
// returns false if call was called. Unlike AfterFunc it takes no timer.
func (c *Context) AfterCancel(call func()) (stop func() bool) {
	return context.AfterFunc(c.parent, call)
}

// Done implements [context.Context].
func (c *Context) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waitLocked().done
}

// AfterFunc is what [context.AfterFunc] and the contexts made from this one call: without it each of them would need a
// goroutine to wait for the end.
func (c *Context) AfterFunc(call func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, id := c.waitLocked(), &call
	if c.ended != nil {
		go call()
		return func() bool { return false }
	}
	if w.after == nil {
		w.after = map[*func()]struct{}{}
	}
	w.after[id] = struct{}{}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, waits := w.after[id]
		delete(w.after, id)
		return waits
	}
}

// waitLocked gets the context ready to be waited for.
func (c *Context) waitLocked() *waited {
	if c.waited != nil {
		return c.waited
	}
	w := &waited{done: make(chan struct{})}
	if c.checkLocked() != nil {
		close(w.done)
	} else {
		w.timer = time.AfterFunc(time.Until(c.deadline), c.expire)
		w.follow = context.AfterFunc(c.parent, func() { c.end(c.parent.Err()) })
	}
	c.waited = w
	return w
}

// expire ends the context, or waits on when the deadline has moved.
func (c *Context) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.checkLocked() == nil {
		c.waited.timer.Reset(time.Until(c.deadline))
	}
}

// Release ends the context.
func (c *Context) Release() { c.end(context.Canceled) }

func (c *Context) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endLocked(err)
}

// endLocked ends the context, unless it has ended.
func (c *Context) endLocked(err error) {
	if c.ended != nil {
		return
	}
	c.ended = err
	w := c.waited
	if w == nil {
		return
	}
	close(w.done)
	w.timer.Stop()
	w.follow()
	for call := range w.after {
		go (*call)()
	}
	w.after = nil
}
