package compiler

import (
	"bytes"
	"context"
	"errors"

	"github.com/wasmres/wasmres/runtime/internal/fair"
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

type ownerKey struct{}

// WithOwner returns a context whose compilations are those of an owner, which is not empty. While modules wait to be compiled, owners
// take turns, and none has all of Config.Concurrent; compilations without an owner may. A compilation that several owners wait for is
// that of the first.
func WithOwner(ctx context.Context, owner string) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner)
}

// OwnerOf returns the owner that WithOwner gave a context; empty for none.
func OwnerOf(ctx context.Context) string {
	owner, _ := ctx.Value(ownerKey{}).(string)
	return owner
}

// A source has a module that is to be compiled.
type source struct {
	size int // bytes of the module
	load func() ([]byte, error)
}

// source returns the source of a module. Without load it holds a copy: a compilation may outlive the call that has started it, and the
// caller may then change the module.
func (c *Compiler) source(d digest, binary []byte, load func() ([]byte, error)) source {
	if load == nil {
		own := bytes.Clone(binary)
		return source{len(own), func() ([]byte, error) { return own, nil }}
	}
	return source{len(binary), func() ([]byte, error) {
		binary, err := load()
		if err == nil && c.digest(binary) != d {
			err = errors.New("compile module: it was replaced while it waited")
		}
		return binary, err
	}}
}

// join joins the compilation of a module, or starts it for an owner and at the expense of a share.
func (c *Compiler) join(d digest, owner string, by *fair.Share, from source) *compilation {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.compilations[d]
	if f == nil {
		ctx, cancel := context.WithCancel(by.Context(WithOwner(context.Background(), owner)))
		f = &compilation{cancel: cancel, done: make(chan struct{})}
		c.compilations[d] = f
		go c.runCompilation(ctx, f, d, from)
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

func (c *Compiler) runCompilation(ctx context.Context, f *compilation, d digest, from source) {
	defer close(f.done)
	defer f.cancel()
	f.outcome, f.err = c.loadOrCompile(ctx, d, from)
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
	delete(c.killed, d)
}
