package child

import (
	"context"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/deadline"
)

// A callContext is the context of a call, in one piece of memory. It has no timer: the runtime checks its deadline.
type callContext struct {
	deadline.Cancelable
	link *connection
	due  time.Time
}

// Deadline implements [context.Context].
func (c *callContext) Deadline() (time.Time, bool) { return c.due, true }

type connectionKey struct{}

// Value implements [context.Context].
func (c *callContext) Value(key any) any {
	if key == (connectionKey{}) {
		return c.link
	}
	return c.Cancelable.Value(key)
}

// withConnection makes a context whose service calls and log records go out on a connection.
func withConnection(ctx context.Context, l *connection) context.Context {
	return context.WithValue(ctx, connectionKey{}, l)
}

// connectionOf is the connection of ctx; nil when it has none.
func connectionOf(ctx context.Context) *connection {
	l, _ := ctx.Value(connectionKey{}).(*connection)
	return l
}
