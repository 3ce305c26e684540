package app

import (
	"errors"
	"fmt"
	"os"

	"github.com/wasmres/wasmres/internal/compiler"
	"github.com/wasmres/wasmres/runtime/engine/wazero"
	"github.com/wasmres/wasmres/runtime/snapshot"
)

// probe says what this system does less well than it could.
func (a *App) probe() {
	if best, reasons := snapshot.Probe(); len(reasons) > 0 {
		a.cfg.Logger.Warn("instances are put back in a slower way on this system", "method", best.String(), "why", errors.Join(reasons...))
	}
}

// openEngine opens the engine over the folder of compiled modules, or over one that lasts until Close.
func (a *App) openEngine() (*wazero.Engine, error) {
	if a.cfg.CacheDir != "" {
		engine, err := a.openEngineIn(a.cfg.CacheDir)
		if err == nil || !a.cfg.CacheOptional {
			return engine, err
		}
		a.cfg.Logger.Debug("compiled modules are not kept", "err", err)
	}
	dir, err := os.MkdirTemp("", "wasmres-")
	if err != nil {
		return nil, fmt.Errorf("compilation cache: %w", err)
	}
	a.closers = append(a.closers, func() error { return os.RemoveAll(dir) })
	return a.openEngineIn(dir)
}

// openEngineIn opens an engine that never compiles in this process: what a child leaves in dir is only read.
func (a *App) openEngineIn(dir string) (*wazero.Engine, error) {
	c, err := compiler.New(compiler.Config{CacheDir: dir, Logger: a.cfg.Logger})
	if err != nil {
		return nil, err
	}
	engine, err := wazero.Open(wazero.Config{CacheDir: dir, Precompile: c.Compile, Logger: a.cfg.Logger})
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, engine.Close)
	return engine, nil
}
