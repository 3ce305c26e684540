package pool

import (
	"context"
	"errors"
	"math"

	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/instance"
)

// InProcess runs guests in this process. Engine is required.
type InProcess instance.Setup

// Open implements [guest.Runner].
func (r InProcess) Open(ctx context.Context, h *guest.Host) (guest.Guests, error) {
	factory, err := instance.NewFactory(ctx, h, instance.Setup(r))
	if err != nil {
		return nil, err
	}
	return &guests{factory: factory, pool: newPool(factory)}, nil
}

// MaxCalls implements [guest.Runner]: the memory of the instances is the only bound.
func (InProcess) MaxCalls() int { return math.MaxInt }

// guests are the guests of a module in this process.
type guests struct {
	factory *instance.Factory
	pool    pool
}

// Call implements [guest.Guests].
func (g *guests) Call(ctx *deadline.Context, c *guest.Call) error {
	i, err := g.pool.acquire(ctx, c.Request.Session)
	if err != nil {
		return err
	}
	defer g.pool.release(i)
	if err := c.EnterTurn(nil, false); err != nil {
		return err
	}
	return i.Run(ctx, c)
}

// ResetUsed implements [guest.Guests].
func (g *guests) ResetUsed() { g.pool.resetUsed() }

var _ engine.Trimmer = (*guests)(nil)

// Trim implements [engine.Trimmer]. The pool trims instances by itself.
func (g *guests) Trim() { g.factory.Trim() }

// EndSession implements [guest.Guests].
func (g *guests) EndSession(session string) { g.pool.endSession(session) }

// Info implements [guest.Guests].
func (g *guests) Info() guest.Info { return g.factory.Info() }

// Close implements [guest.Guests].
func (g *guests) Close() error {
	g.pool.close()
	return g.factory.Close()
}

// Reasons for discarding instances.
var (
	errPoolFull = errors.New("there are enough")
	errEvicted  = errors.New("other sessions need the place")
	errStopped  = errors.New("the call was stopped halfway")
	errEnded    = errors.New("the session has ended")
	errIdle     = errors.New("not used for long")
	errClosed   = errors.New("the module is closing")
)

// A pool has the instances of a module between calls. It is safe for concurrent use.
type pool interface {
	// acquire returns an instance for a call of a session. If another call has that instance, acquire waits until that
	// call or ctx ends.
	acquire(ctx context.Context, session string) (*instance.Instance, error)
	// release accepts the instance as it is. It never waits.
	release(i *instance.Instance)
	// resetUsed does the work that release left.
	resetUsed()
	endSession(session string)
	// close discards all instances. All must have been released.
	close()
}
