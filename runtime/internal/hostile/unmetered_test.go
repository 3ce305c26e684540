//go:build linux

package hostile_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
	"github.com/wasmres/wasmres/runtime/internal/meter"
)

// unmetered is a worker's engine that takes modules as they are, where there is one in the place of its native code: it compiles them itself, in memory, since nothing has
// done so before, and has what the runtime looks for in a metered module where the module has not. A worker is given no
// code but that of its entry in the compilation cache, in the place of which it finds the module: see [rawFile].
func unmetered(e engine.Engine) engine.Engine {
	own, err := wazero.Open(wazero.Config{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return tolerant{Engine: own, metered: e}
}

type tolerant struct {
	engine.Engine
	metered engine.Engine // for modules that were metered
}

func (t tolerant) Close() error { return errors.Join(t.Engine.Close(), t.metered.Close()) }

func (t tolerant) Compile(ctx context.Context, stripped []byte, host []engine.HostFunc) (engine.Module, error) {
	file, err := rawFile(stripped)
	if err != nil {
		return nil, err
	}
	binary, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return t.metered.Compile(ctx, stripped, host) // it was admitted and metered
	}
	if err != nil {
		return nil, err
	}
	m, err := t.Engine.Compile(ctx, binary, host)
	if err != nil {
		return nil, err
	}
	return tolerantModule{m}, nil
}

type tolerantModule struct{ engine.Module }

func (m tolerantModule) Instantiate(ctx context.Context, host any, memory engine.LinearMemory) (engine.Instance, error) {
	i, err := m.Module.Instantiate(ctx, host, memory)
	if err != nil {
		return nil, err
	}
	return tolerantInstance{i}, nil
}

type tolerantInstance struct{ engine.Instance }

// Global returns what a metered module would have. No code counts in it.
func (i tolerantInstance) Global(export string) engine.Global {
	if g := i.Instance.Global(export); g != nil || !strings.HasPrefix(export, meter.Prefix) {
		return g
	}
	return new(register)
}

// Trim implements [engine.Trimmer].
func (i tolerantInstance) Trim() {
	if r, ok := i.Instance.(engine.Trimmer); ok {
		r.Trim()
	}
}

type register uint64

func (r *register) Get() uint64  { return uint64(*r) }
func (r *register) Set(v uint64) { *r = register(v) }
