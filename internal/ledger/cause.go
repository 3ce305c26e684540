package ledger

import (
	"context"
	"sync/atomic"
)

// A Cause is a request of which the ledger records what it did. It is for one request.
type Cause struct {
	Actor string // as Entry has it
	Via   string // as Entry has it

	recorded atomic.Bool
}

type causeKey struct{}

// WithCause returns a context of a request.
func WithCause(ctx context.Context, c *Cause) context.Context {
	return context.WithValue(ctx, causeKey{}, c)
}

// CauseOf returns the Cause of a context; one without texts if there is none.
func CauseOf(ctx context.Context) *Cause {
	if c, ok := ctx.Value(causeKey{}).(*Cause); ok {
		return c
	}
	return &Cause{}
}

// SetRecorded notes that the ledger has an entry of what the request did.
func (c *Cause) SetRecorded() { c.recorded.Store(true) }

// IsRecorded reports whether the ledger has an entry of what the request did.
func (c *Cause) IsRecorded() bool { return c.recorded.Load() }
