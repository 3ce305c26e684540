package app

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"strings"

	"github.com/wasmres/wasmres/internal/compiler"
	"github.com/wasmres/wasmres/internal/worker"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/engine/wazero"
	"github.com/wasmres/wasmres/runtime/snapshot"
)

// probe says what this system does less well than it could.
func (a *App) probe() {
	if best, reasons := snapshot.Probe(); len(reasons) > 0 {
		a.cfg.Logger.Warn("instances are put back in a slower way on this system", "method", best.String(), "why", errors.Join(reasons...))
	}
}

// Where guests run.
const (
	IsolationProcess   = "process"    // in a worker process, locked down; Linux only
	IsolationInProcess = "in-process" // in this process
)

// DefaultIsolation is the strongest that this system has.
func DefaultIsolation() string {
	if goruntime.GOOS == "linux" {
		return IsolationProcess
	}
	return IsolationInProcess
}

// openRunner gets ready to run guests, over the folder of compiled modules or over one that lasts until Close.
func (a *App) openRunner() (runtime.Runner, error) {
	if a.cfg.CacheDir != "" {
		runner, err := a.openRunnerIn(a.cfg.CacheDir)
		if err == nil || !a.cfg.CacheOptional {
			return runner, err
		}
		a.cfg.Logger.Debug("compiled modules are not kept", "err", err)
	}
	dir, err := os.MkdirTemp("", "wasmres-")
	if err != nil {
		return nil, fmt.Errorf("compilation cache: %w", err)
	}
	a.closers = append(a.closers, func() error { return os.RemoveAll(dir) })
	return a.openRunnerIn(dir)
}

// openRunnerIn opens a runner that has modules compiled by a child, which leaves them in dir.
func (a *App) openRunnerIn(dir string) (runtime.Runner, error) {
	if err := wazero.CheckCacheDir(dir); err != nil {
		return nil, err
	}
	c, err := compiler.New(compiler.Config{CacheDir: dir, MaxBytes: a.cfg.CacheSize, Busy: a.busy, Logger: a.cfg.Logger})
	if err != nil {
		return nil, err
	}
	a.modules = c
	if a.cfg.Isolation == IsolationInProcess {
		return a.openEngine(dir, c)
	}
	a.workers, err = worker.New(worker.Config{Compile: c.Folder, Forget: c.Invalidate, Logger: a.cfg.Logger})
	return a.workers, err
}

// openEngine opens an engine of this process.
func (a *App) openEngine(dir string, c *compiler.Compiler) (runtime.Runner, error) {
	if goruntime.GOOS != "linux" {
		a.cfg.Logger.Warn("guests run in this process: workers that are locked down are there on Linux only")
	}
	engine, err := wazero.Open(wazero.Config{CacheDir: dir, Precompile: c.Folder, Logger: a.cfg.Logger})
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, engine.Close)
	return runtime.InProcess{Engine: engine}, nil
}

// busy reports whether workers are at work.
func (a *App) busy() bool { return a.workers != nil && a.workers.Busy() }

// Walls says what stands around the guests' worker; nil when they run in this process.
func (a *App) Walls() *worker.Walls {
	if a.workers == nil {
		return nil
	}
	return a.workers.Walls()
}

// logIsolation says where guests run.
func (a *App) logIsolation() {
	on := a.Walls()
	if on == nil {
		a.cfg.Logger.Info("guests run in this process", "isolation", a.cfg.Isolation)
		return
	}
	for _, layer := range on.Layers {
		if !layer.On {
			a.cfg.Logger.Warn("isolation layer is off", "layer", layer.Name, "why", layer.Detail)
		}
	}
	a.cfg.Logger.Info("guests run in a worker", "isolation", a.cfg.Isolation, "layers", on.Layers.String(), "namespaces", cmp.Or(strings.Join(on.Spaces(), " "), "none"))
}
