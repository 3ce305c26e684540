package deadline

import (
	"context"
	"sync"
	"time"
)

// A Cancelable is a context that ends with its parent, or when it is cancelled. [NewCancelable] makes one, or Init of one that is
// part of something else. Its user must cancel it, and must not init it again: goroutines may have it after its end. It is safe for
// concurrent use.
//
// Unlike a context of [context.WithCancelCause] it is one allocation, and its parent does not know it until a goroutine waits for
// the end, which few requests need.
type Cancelable struct {
	parent context.Context

	mu     sync.Mutex      // guards the fields below
	err    error           // nil until the context is known to have ended; not used any more once waited is set
	told   bool            // err is that of Cancel, not of the parent
	cause  error           // told to Cancel
	waited context.Context // what goroutines wait for; nil until one does
	cancel context.CancelCauseFunc
}

// NewCancelable returns a context that ends with parent, or when it is cancelled.
func NewCancelable(parent context.Context) *Cancelable {
	c := new(Cancelable)
	c.Init(parent)
	return c
}

// Init is [NewCancelable] for a zero Cancelable that is in use nowhere.
func (c *Cancelable) Init(parent context.Context) { c.parent = parent }

// Cancel ends the context, unless it has ended. The cause is for [context.Cause]; nil is [context.Canceled].
func (c *Cancelable) Cancel(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waited != nil {
		c.cancel(cause)
		return
	}
	if c.errLocked() == nil {
		c.err, c.told, c.cause = context.Canceled, true, cause
	}
}

// errLocked returns why the context has ended, if goroutines do not wait for it; nil if it has not.
func (c *Cancelable) errLocked() error {
	if c.err == nil {
		c.err = c.parent.Err()
	}
	return c.err
}

// Deadline implements [context.Context].
func (c *Cancelable) Deadline() (time.Time, bool) { return c.parent.Deadline() }

// Done implements [context.Context].
func (c *Cancelable) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waitedLocked().Done()
}

// Err implements [context.Context].
func (c *Cancelable) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waited != nil {
		return c.waited.Err()
	}
	return c.errLocked()
}

// Value implements [context.Context]. Package context asks it for what goroutines wait for, and then for its cause.
func (c *Cancelable) Value(key any) any {
	c.mu.Lock()
	of := c.waited
	switch {
	case of != nil:
	case c.err != nil:
		of = c.waitedLocked()
	default:
		of = c.parent
	}
	c.mu.Unlock()
	return of.Value(key)
}

// waitedLocked returns what goroutines wait for.
func (c *Cancelable) waitedLocked() context.Context {
	switch {
	case c.waited != nil:
	case c.told: // before the parent ended, if it has ended since
		c.waited, c.cancel = context.WithCancelCause(context.WithoutCancel(c.parent))
		c.cancel(c.cause)
	default:
		c.waited, c.cancel = context.WithCancelCause(c.parent)
	}
	return c.waited
}
