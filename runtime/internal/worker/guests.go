package worker

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/worker/link"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
	"github.com/wasmres/wasmres/runtime/internal/worker/supervise"
)

// guests are the guests of one module, in its present worker.
type guests struct {
	// fixed at creation
	runner *Runner
	host   *guest.Host
	module *os.File // the metered module

	// owned by the goroutine that starts a worker
	compiled   string // directory of the compiled module; empty when it is not known to be there
	recompiled bool   // the module was compiled again since a worker was ready
	described  bool   // a worker was ready

	// fixed once they are open
	workers *supervise.Supervisor[*worker]
	info    guest.Info

	quota  link.Quota
	called atomic.Int64 // when, as time since the runner was made; 0 for never
	closed sync.Once
}

// open starts the first worker. If the compiled module is unusable, as after damage on the disk, it is compiled again.
func (g *guests) open(ctx context.Context) error {
	err := g.start(ctx)
	if isCompiledModuleError(err) {
		err = g.start(ctx)
	}
	return err
}

func (g *guests) start(ctx context.Context) (err error) {
	cfg := supervise.Config[*worker]{Prepare: g.prepare, Start: g.startWorker, Logger: g.runner.cfg.Logger}
	if g.runner.cfg.Idle > 0 {
		cfg.Idle = g.idle
	}
	g.workers, err = supervise.Open(ctx, cfg)
	return err
}

// idle returns how long a worker without calls keeps running.
func (g *guests) idle() time.Duration { return max(g.runner.cfg.Idle, g.lasting()) }

// lasting returns how long guest state that outlives a call may rely on its worker: for as long as the worker keeps the
// instance of a session that is not called.
func (g *guests) lasting() time.Duration {
	if g.host.Lifecycle() == abi.LifecycleFresh {
		return 0
	}
	return g.host.Limits.Idle
}

// prepare has the module compiled, if it is not.
func (g *guests) prepare(ctx context.Context) (err error) {
	if g.compiled == "" {
		g.compiled, err = g.runner.cfg.Compile(ctx, g.host.Module.Binary())
	}
	return err
}

// startWorker starts a worker.
func (g *guests) startWorker(ctx context.Context) (_ *worker, err error) {
	defer g.runner.standby.startNext(standbyDelay)
	w, err := start(ctx, g)
	if err != nil {
		return nil, errors.Join(err, g.invalidateCompiled(err))
	}
	if err := g.setReady(w.ready); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	g.recompiled, g.described = false, true
	g.runner.current.Store(&Isolation{Layers: w.ready.Layers, Namespaces: w.process.Namespaces()})
	return w, nil
}

// invalidateCompiled makes the next worker look for the compiled module again. If that module may have caused err, it
// is compiled again first, but not twice in a row.
func (g *guests) invalidateCompiled(err error) error {
	dir := g.compiled
	g.compiled = ""
	if !isCompiledModuleError(err) || g.recompiled {
		return nil
	}
	g.recompiled = true
	g.runner.cfg.Logger.Warn("compiled module invalid, recompiling", "dir", dir, "err", err)
	return g.runner.cfg.Invalidate(g.host.Module.Binary())
}

// isCompiledModuleError reports whether the compiled module may be the reason why a worker did not start: the worker
// refused it, or ended without an error.
func isCompiledModuleError(err error) bool {
	return abi.CodeOf(err) == abi.CodeModule || errors.Is(err, io.EOF) || errors.Is(err, protocol.ErrGone)
}

// setReady stores the first worker's report of its guest. It ignores reports of later workers.
func (g *guests) setReady(r *link.Ready) error {
	if g.described {
		return nil
	}
	g.info = r.Info
	if g.host.Packed() {
		return nil
	}
	manifest, err := abi.DecodeManifest(r.Manifest)
	if err != nil {
		return err
	}
	return g.host.SetManifest(manifest)
}

// Call implements [guest.Guests]. A call that loses its worker is retried once, unless it may have caused the loss, the
// guest has answered something, or it has asked for something that may change something. A call starts a worker if the last
// one was stopped.
func (g *guests) Call(ctx *deadline.Context, c *guest.Call) error {
	g.called.Store(int64(time.Since(g.runner.made)))
	w, err := g.workers.Acquire(ctx)
	if err != nil {
		return err
	}
	defer g.workers.Release()
	retry, err := w.call(ctx, c)
	if !retry {
		return err
	}
	if w, err = g.workers.AcquireOther(ctx, w); err != nil {
		return err
	}
	_, err = w.call(ctx, c)
	return err
}

// ResetUsed implements [guest.Guests]. A worker resets its instances by itself.
func (g *guests) ResetUsed() {}

// EndSession implements [guest.Guests]. Without a worker there are no sessions.
func (g *guests) EndSession(session string) {
	if w, ok := g.workers.Current(); ok {
		w.endSession(session)
	}
}

// Info implements [guest.Guests].
func (g *guests) Info() guest.Info { return g.info }

// Close implements [guest.Guests].
func (g *guests) Close() (err error) {
	g.closed.Do(func() {
		g.runner.activity.remove(g)
		err = g.close()
		g.runner.standby.remove()
	})
	return err
}

func (g *guests) close() error {
	if g.workers != nil {
		_ = g.workers.Close() // the last worker's error does not matter
	}
	return g.module.Close()
}
