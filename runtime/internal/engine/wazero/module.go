package wazero

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wasmres/wasmres/runtime/internal/engine"
)

type module struct {
	rt       wazero.Runtime
	compiled wazero.CompiledModule
	resizes  bool
	cache    wazero.CompilationCache // of this module; nil when it uses that of the engine
	code     []byte                  // where its native code is mapped from a file; nil if that is a copy
	copied   error                   // why it is a copy
}

var (
	_ engine.Trimmer    = (*module)(nil)
	_ engine.CodeMapper = (*module)(nil)
)

// Trim implements [engine.Trimmer]: it releases the pages of native code.
func (m *module) Trim() {
	if len(m.code) > 0 {
		forget(m.code)
	}
}

// Copied implements [engine.CodeMapper].
func (m *module) Copied() error { return m.copied }

func (m *module) Instantiate(ctx context.Context, host any, memory engine.LinearMemory) (engine.Instance, error) {
	ctx = context.WithValue(ctx, hostKey{}, host)
	ctx = experimental.WithMemoryAllocator(ctx, allocator{memory})
	// An empty name allows several instances; no start functions, since the runtime calls them within its limits.
	mod, err := m.rt.InstantiateModule(ctx, m.compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, fmt.Errorf("instantiate: %w", err)
	}
	return &instance{module: m, mod: mod, ctx: callContext{host: host}, memory: memory, funcs: map[string]api.Function{}}, nil
}

func (m *module) Close() error {
	err := m.rt.Close(context.Background())
	if m.cache != nil {
		err = errors.Join(err, m.cache.Close(context.Background()))
	}
	return err
}

// An allocator gives an instance its memory.
type allocator struct{ memory engine.LinearMemory }

// Allocate implements [experimental.MemoryAllocator].
func (a allocator) Allocate(_, _ uint64) experimental.LinearMemory { return a.memory }

type instance struct {
	module *module
	mod    api.Module
	ctx    callContext
	memory engine.LinearMemory
	funcs  map[string]api.Function // made once, since each has its own stack
}

func (i *instance) Call(ctx context.Context, export string, stack []uint64) error {
	f := i.funcs[export]
	if f == nil {
		if f = i.mod.ExportedFunction(export); f == nil {
			return fmt.Errorf("no export %q", export)
		}
		i.funcs[export] = f
	}
	i.ctx.Context = ctx
	err := f.CallWithStack(&i.ctx, stack)
	i.ctx.Context = nil
	if err == nil {
		return nil
	}
	delete(i.funcs, export) // otherwise it would keep its stack, which may have grown to the limit
	return trapped(err)
}

var _ engine.Trimmer = (*instance)(nil)

// Trim implements [engine.Trimmer]: each function keeps the stack of its deepest call.
func (i *instance) Trim() { clear(i.funcs) }

func (i *instance) Memory() engine.Memory { return i.mod.Memory() }

func (i *instance) Global(export string) engine.Global {
	g, ok := i.mod.ExportedGlobal(export).(api.MutableGlobal)
	if !ok {
		return nil
	}
	return g
}

var errNoResize = errors.New("this version of wazero cannot shrink memory")

// Resize grows the memory by a page, for which Reallocate returns another size: wazero takes that.
func (i *instance) Resize() error {
	if !i.module.resizes {
		return errNoResize
	}
	if _, ok := i.mod.Memory().Grow(1); !ok {
		return errors.New("the memory is at its maximum and cannot be resized")
	}
	return nil
}

func (i *instance) Close() error { return i.mod.Close(context.Background()) }

// A callContext is the context of the running call, with the host value of the instance for host functions.
type callContext struct {
	context.Context
	host any
}

type hostKey struct{}

// Value implements [context.Context].
func (c *callContext) Value(key any) any {
	if key == (hostKey{}) {
		return c.host
	}
	return c.Context.Value(key)
}
