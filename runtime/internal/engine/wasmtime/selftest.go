//go:build wasmtime && cgo && linux && amd64

package wasmtime

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"syscall"

	"github.com/wasmres/wasmres/runtime/internal/engine"
)

// probe has a memory of 1 to 3 pages, and exports grow, size and touch, which stores a byte at an address.
//
//go:embed probe.wasm
var probe []byte

// Warm makes an engine, so that the first module of this process is ready earlier: the kernel maps the code of the library, and what
// the library makes at its first use is there. It compiles nothing, and leaves no other trace.
func Warm() {
	if e, err := newEngine(false); err == nil { // Open reports what fails
		_ = e.Close() // it returns no error
	}
}

// selfTest tests that wasmtime takes the memory of the host, also when it is smaller than before, and checks the guest
// against its size.
func selfTest() (err error) {
	ctx := context.Background()
	e, err := newEngine(false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	m, err := e.Compile(ctx, probe, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	memory, err := newProbeMemory()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, syscall.Munmap(memory.bytes)) }()
	inst, err := m.Instantiate(ctx, nil, memory)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, inst.Close()) }()
	return probeSizes(ctx, inst, memory)
}

func probeSizes(ctx context.Context, inst engine.Instance, memory *probeMemory) error {
	ask := func(export string, param uint64) (uint64, error) {
		stack := []uint64{param}
		err := inst.Call(ctx, export, stack)
		return stack[0], err
	}
	memory.answer = 2 * engine.PageSize
	if before, err := ask("grow", 1); err != nil || uint32(before) != 1 {
		return fmt.Errorf("growing from 1 page: from %d, %v", before, err)
	}
	if _, err := ask("touch", engine.PageSize); err != nil {
		return fmt.Errorf("using the new page: %w", err)
	}
	memory.answer = engine.PageSize
	if err := inst.Resize(); err != nil {
		return err
	}
	if pages, err := ask("size", 0); err != nil || uint32(pages) != 1 {
		return fmt.Errorf("the guest sees %d pages after shrinking to 1, %v", pages, err)
	}
	if _, err := ask("touch", engine.PageSize); err == nil {
		return errors.New("the guest can still use memory after shrinking")
	}
	return nil
}

// A probeMemory gives answer of its bytes, which do not belong to Go: the library keeps their address.
type probeMemory struct {
	bytes  []byte
	answer uint64
}

func newProbeMemory() (*probeMemory, error) {
	p, err := syscall.Mmap(-1, 0, 2*engine.PageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("memory of the test: %w", err)
	}
	return &probeMemory{bytes: p, answer: engine.PageSize}, nil
}

func (m *probeMemory) Reallocate(uint64) []byte { return m.bytes[:m.answer] }
func (m *probeMemory) Free()                    {}
