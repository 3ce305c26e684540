package wazero

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/engine"
)

type module struct {
	rt          wazero.Runtime
	compiled    wazero.CompiledModule
	memoryPages uint32
}

func (m *module) Exports() map[string]abi.Signature {
	defs := m.compiled.ExportedFunctions()
	out := make(map[string]abi.Signature, len(defs))
	for name, def := range defs {
		out[name] = signature(def)
	}
	return out
}

func (m *module) HasMemory() bool {
	_, ok := m.compiled.ExportedMemories()[abi.ExportMemory]
	return ok
}

func (m *module) Instantiate(ctx context.Context, host any) (engine.Instance, error) {
	inst := &instance{host: host, memory: &linearMemory{limit: uint64(m.memoryPages) * engine.PageSize}}
	ctx = context.WithValue(ctx, hostKey{}, host)
	ctx = experimental.WithMemoryAllocator(ctx, inst.memory)
	// An empty name keeps instances apart; no start functions, since the runtime calls them under its limits.
	mod, err := m.rt.InstantiateModule(ctx, m.compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, fmt.Errorf("instantiate: %w", err)
	}
	inst.mod, inst.funcs = mod, map[string]api.Function{}
	return inst, nil
}

func (m *module) Close() error { return m.rt.Close(context.Background()) }

type instance struct {
	mod    api.Module
	host   any
	memory *linearMemory
	funcs  map[string]api.Function // each has a stack of its own, so it is made once
}

func (i *instance) Call(ctx context.Context, export string, stack []uint64) error {
	f := i.funcs[export]
	if f == nil {
		if f = i.mod.ExportedFunction(export); f == nil {
			return fmt.Errorf("no export %q", export)
		}
		i.funcs[export] = f
	}
	return f.CallWithStack(context.WithValue(ctx, hostKey{}, i.host), stack)
}

func (i *instance) MemoryRefused() bool { return i.memory.refused }

func (i *instance) Close() error { return i.mod.Close(context.Background()) }

// A linearMemory backs one instance's memory with Go's heap, so that a stale view can never fault, and remembers
// whether the guest has asked for more than its limit.
type linearMemory struct {
	buf     []byte
	limit   uint64 // bytes
	refused bool
}

// Allocate implements [experimental.MemoryAllocator].
func (m *linearMemory) Allocate(capacity, _ uint64) experimental.LinearMemory {
	m.buf = make([]byte, 0, min(capacity, m.limit))
	return m
}

// Reallocate implements [experimental.LinearMemory].
func (m *linearMemory) Reallocate(size uint64) []byte {
	if size > m.limit {
		m.refused = true
		return nil
	}
	if size > uint64(cap(m.buf)) {
		grown := make([]byte, size, min(max(size, 2*uint64(cap(m.buf))), m.limit))
		copy(grown, m.buf)
		m.buf = grown
	}
	m.buf = m.buf[:size]
	return m.buf
}

// Free implements [experimental.LinearMemory].
func (m *linearMemory) Free() { m.buf = nil }
