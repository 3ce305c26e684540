package wazero

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"

	"github.com/wasmres/wasmres/runtime/internal/engine"
)

// probe has a memory of 1 to 3 pages, and exports grow, size and touch, which stores a byte at an address.
//
//go:embed probe.wasm
var probe []byte

const probePage = 64 << 10

// Warm uses the engine once, so that the first module of this process is ready earlier: the kernel maps the code of the
// engine, and the tables that it makes at its first use are there. It leaves no other trace.
func Warm() {
	_ = selfTest() // Test reports what fails
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, runtimeConfig())
	defer rt.Close(ctx)
	nothing := engine.HostFunc{Module: "warm", Name: "nothing", Call: func(context.Context, engine.Memory, any, []uint64) {}}
	_ = defineHostModule(ctx, rt, nothing.Module, []engine.HostFunc{nothing})
}

// selfTest tests that wazero takes the memory of an allocator, also when it is smaller than before, and checks the guest
// against its size. Version 1.12.0 does so, but does not document it.
func selfTest() (err error) {
	ctx := context.Background()
	cache := wazero.NewCompilationCache()
	defer func() { err = errors.Join(err, cache.Close(ctx)) }()
	m, err := newLoader(cache, "", nil).compile(ctx, probe, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	memory := &probeMemory{bytes: make([]byte, 2*probePage), answer: probePage}
	inst, err := m.Instantiate(ctx, nil, memory)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, inst.Close()) }()
	ask := func(export string, param uint64) (uint64, error) {
		stack := []uint64{param}
		err := inst.Call(ctx, export, stack)
		return stack[0], err
	}
	memory.answer = 2 * probePage
	if before, err := ask("grow", 1); err != nil || before != 1 {
		return fmt.Errorf("growing from 1 page: from %d, %v", before, err)
	}
	if _, err := ask("touch", probePage); err != nil {
		return fmt.Errorf("using the new page: %w", err)
	}
	memory.answer = probePage
	if err := inst.Resize(); err != nil {
		return err
	}
	if pages, err := ask("size", 0); err != nil || pages != 1 {
		return fmt.Errorf("the guest sees %d pages after shrinking to 1, %v", pages, err)
	}
	if _, err := ask("touch", probePage); err == nil {
		return errors.New("the guest can still use memory after shrinking")
	}
	return nil
}

// A probeMemory gives answer of its bytes.
type probeMemory struct {
	bytes  []byte
	answer uint64
}

func (m *probeMemory) Reallocate(uint64) []byte { return m.bytes[:m.answer] }
func (m *probeMemory) Free()                    {}
