package guest

import (
	"context"

	"github.com/wasmres/wasmres/runtime/internal/deadline"
)

// A Runner runs the guests of modules: in this process, as pool.InProcess does, or in another one. The caller need not
// trust it, since a [Call] checks all data from a guest.
type Runner interface {
	// Open prepares the module of a host, until ctx ends: it compiles, starts, describes, configures and warms it up.
	// It sets the manifest unless the module contains it. Errors have a code, see [abi.CodeOf].
	Open(ctx context.Context, h *Host) (Guests, error)
	// MaxCalls returns how many calls of one module the runner can run at once. The caller starts no more.
	MaxCalls() int
}

// Guests runs the calls of one module. It is safe for concurrent use.
type Guests interface {
	// Call runs c in a guest, and passes all data from the guest to c. The call ends with ctx, that of Begin. An error has a
	// code, see [abi.CodeOf]. Calls that share state run one after another.
	Call(ctx *deadline.Context, c *Call) error
	// ResetUsed resets the instances of ended calls. Calling it is optional: an instance that was not reset is reset before
	// its next use. It keeps that work out of the next call.
	ResetUsed()
	// EndSession discards the state of a session.
	EndSession(session string)
	// Info returns how instances start and are reset.
	Info() Info
	// Close releases all instances. No call may run or begin any more.
	Close() error
}

// A Waker is Guests that run in a process, which they start for a call.
type Waker interface {
	// Wake starts the process, unless it runs, and waits until it is ready or ctx ends.
	Wake(ctx context.Context) error
}
