package compiler

import (
	"bytes"
	"context"
)

// A flight is the work on one module, for all that wait for it.
type flight struct {
	// Fixed at creation.
	cancel context.CancelFunc
	done   chan struct{} // closed when the fields below it are set

	waiting int // guarded by the Compiler's mu

	outcome outcome
	err     error
}

// board joins the flight of a module, or starts it.
func (c *Compiler) board(d digest, binary []byte) *flight {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.flights[d]
	if f == nil {
		ctx, cancel := context.WithCancel(context.Background())
		f = &flight{cancel: cancel, done: make(chan struct{})}
		c.flights[d] = f
		// A copy, since the flight may outlive this call, after which the caller may do with the module what it likes.
		go c.fly(ctx, f, d, bytes.Clone(binary))
	}
	f.waiting++
	return f
}

// leave gives up waiting. The last one to leave ends the flight and sees it down.
func (c *Compiler) leave(d digest, f *flight) {
	c.mu.Lock()
	f.waiting--
	last := f.waiting == 0
	if last && c.flights[d] == f {
		delete(c.flights, d) // who comes now must not join what is about to be killed
	}
	c.mu.Unlock()
	if last {
		f.cancel()
		<-f.done
	}
}

func (c *Compiler) fly(ctx context.Context, f *flight, d digest, binary []byte) {
	defer close(f.done)
	defer f.cancel()
	f.outcome, f.err = c.obtain(ctx, d, binary)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flights[d] == f {
		delete(c.flights, d)
	}
	if f.err != nil {
		return
	}
	if len(c.known) >= maxKnown {
		clear(c.known)
	}
	c.known[d] = f.outcome
}
