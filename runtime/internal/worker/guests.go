package worker

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/sandbox"
	"github.com/wasmres/wasmres/runtime/internal/worker/supervise"
)

// guests are those of one module, in the worker that lives.
type guests struct {
	// fixed at creation
	runner *Runner
	order  *sandbox.Order
	module *os.File      // the prepared module
	places chan struct{} // holds a token for each call that is in a worker

	// owned by who starts a worker
	compiled string // the folder of the compiled module; empty when it is not known to be there
	remade   bool   // the compiled module was made again since a worker got ready

	// fixed once they are open
	alive   *supervise.Supervisor[*worker]
	lane    sandbox.Lane
	why     string
	started sandbox.Start

	quota   quota
	called  atomic.Int64           // when, as time since the runner was made; 0 for never
	current atomic.Pointer[worker] // the last that was started
	closed  sync.Once
}

// open starts the first worker. Where the compiled module is of no use, as when the disk has lost part of it, it is made
// again.
func (g *guests) open(ctx context.Context) error {
	err := g.start(ctx)
	if unusable(err) {
		err = g.start(ctx)
	}
	return err
}

func (g *guests) start(ctx context.Context) (err error) {
	g.alive, err = supervise.Open(ctx, supervise.Config[*worker]{Start: g.launch, Logger: g.runner.cfg.Logger})
	return err
}

// launch starts a worker.
func (g *guests) launch(ctx context.Context) (_ *worker, err error) {
	if g.compiled == "" {
		if g.compiled, err = g.runner.cfg.Compile(ctx, g.order.Binary()); err != nil {
			return nil, err
		}
	}
	defer g.runner.spares.begin(refill)
	w, err := start(ctx, g)
	if err != nil {
		return nil, errors.Join(err, g.doubt(err))
	}
	if err := g.learn(w); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	g.remade = false
	g.current.Store(w)
	g.runner.current.Store(&Walls{Layers: w.ready.Layers, Namespaces: w.process.Namespaces()})
	return w, nil
}

// doubt has the next worker start with a look at the compiled module, which is made again when it was of no use.
func (g *guests) doubt(err error) error {
	dir := g.compiled
	g.compiled = ""
	if !unusable(err) || g.remade {
		return nil
	}
	g.remade = true
	g.runner.cfg.Logger.Warn("a compiled module is unusable and is made again", "folder", dir, "err", err)
	return g.runner.cfg.Forget(g.order.Binary())
}

// learn takes what the first worker says of its guest. What others say of theirs changes nothing.
func (g *guests) learn(w *worker) error {
	if g.current.Load() != nil {
		return nil
	}
	g.lane, g.why, g.started = w.ready.Lane, w.ready.Why, w.ready.Start
	if g.order.Packed() {
		return nil
	}
	manifest, err := abi.DecodeManifest(w.manifest)
	if err != nil {
		return err
	}
	return g.order.Learn(manifest)
}

// Call implements [sandbox.Guests]. A call whose worker ends under it, by no fault of its own that is known, is
// repeated once, unless the guest has answered something or has asked for what may change something.
func (g *guests) Call(ctx context.Context, c *sandbox.Call) error {
	if err := g.await(ctx); err != nil {
		return err
	}
	defer func() { <-g.places }()
	g.called.Store(int64(time.Since(g.runner.made)))
	w, err := g.alive.Acquire(ctx)
	if err != nil {
		return err
	}
	again, err := w.call(ctx, c)
	if !again {
		return err
	}
	if w, err = g.alive.AcquireOther(ctx, w); err != nil {
		return err
	}
	_, err = w.call(ctx, c)
	return err
}

// await waits for a place.
func (g *guests) await(ctx context.Context) error {
	select {
	case g.places <- struct{}{}:
		return nil
	default:
	}
	select {
	case g.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Settle implements [sandbox.Guests]. A worker does so by itself.
func (g *guests) Settle() {}

// EndSession implements [sandbox.Guests].
func (g *guests) EndSession(session string) { g.current.Load().endSession(session) }

// Started implements [sandbox.Guests].
func (g *guests) Started() sandbox.Start { return g.started }

// Lane implements [sandbox.Guests].
func (g *guests) Lane() (sandbox.Lane, string) { return g.lane, g.why }

// Close implements [sandbox.Guests].
func (g *guests) Close() (err error) {
	g.closed.Do(func() {
		g.runner.crowd.leave(g)
		err = g.close()
		g.runner.spares.leave()
	})
	return err
}

func (g *guests) close() error {
	if g.alive != nil {
		_ = g.alive.Close() // how the last worker ended matters no more
	}
	return g.module.Close()
}
