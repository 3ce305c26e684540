package compiler

import (
	"bytes"
	"context"
)

// A compilation is the work on one module, for all callers that wait for it.
type compilation struct {
	// Fixed at creation.
	cancel context.CancelFunc
	done   chan struct{} // closed when the fields below are set

	waiting int // guarded by the Compiler's mu

	outcome outcome
	err     error
}

// join joins the compilation of a module, or starts it.
func (c *Compiler) join(d digest, binary []byte) *compilation {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.compilations[d]
	if f == nil {
		ctx, cancel := context.WithCancel(context.Background())
		f = &compilation{cancel: cancel, done: make(chan struct{})}
		c.compilations[d] = f
		// A copy: the compilation may outlive this call, and the caller may then change the module.
		go c.runCompilation(ctx, f, d, bytes.Clone(binary))
	}
	f.waiting++
	return f
}

// leave ends the waiting of one caller. The last one to leave kills the compilation and waits for its end.
func (c *Compiler) leave(d digest, f *compilation) {
	c.mu.Lock()
	f.waiting--
	last := f.waiting == 0
	if last && c.compilations[d] == f {
		delete(c.compilations, d) // a new caller must not join a compilation that is about to be killed
	}
	c.mu.Unlock()
	if last {
		f.cancel()
		<-f.done
	}
}

func (c *Compiler) runCompilation(ctx context.Context, f *compilation, d digest, binary []byte) {
	defer close(f.done)
	defer f.cancel()
	f.outcome, f.err = c.loadOrCompile(ctx, d, binary)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.compilations[d] == f {
		delete(c.compilations, d)
	}
	if f.err != nil {
		return
	}
	if len(c.known) >= maxKnown {
		clear(c.known)
	}
	c.known[d] = f.outcome
}
