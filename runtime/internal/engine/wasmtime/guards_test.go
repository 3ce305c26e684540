//go:build wasmtime && cgo && linux && amd64

package wasmtime_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/wasmtime"
	"github.com/wasmres/wasmres/runtime/internal/snapshot"
)

// An access is a function (param i32) of the module that accesses that many bytes at the address, beyond an offset.
type access struct {
	name   string
	size   uint64
	offset uint64
	code   []byte
}

// accesses are all loads and stores, with small and with large offsets, and the operations on many bytes.
func accesses() (all []access) {
	constants := map[byte][]byte{'i': {0x41, 0}, 'l': {0x42, 0}, 'f': {0x43, 0, 0, 0, 0}, 'd': {0x44, 0, 0, 0, 0, 0, 0, 0, 0}}
	sizes := []uint64{4, 8, 4, 8, 1, 1, 2, 2, 1, 1, 2, 2, 4, 4}
	stores := []struct {
		size uint64
		kind byte
	}{{4, 'i'}, {8, 'l'}, {4, 'f'}, {8, 'd'}, {1, 'i'}, {2, 'i'}, {1, 'l'}, {2, 'l'}, {4, 'l'}}
	for _, offset := range []uint64{0, 8, 64 << 10, 31 << 20, 40 << 20, 1<<32 - 1} {
		immediate := binary.AppendUvarint([]byte{0}, offset)
		add := func(name string, size uint64, before, op, after []byte) {
			code := append(append(append(append([]byte{0x20, 0}, before...), op...), immediate...), after...)
			all = append(all, access{fmt.Sprintf("%s+%d", name, offset), size, offset, code})
		}
		for i, size := range sizes {
			op := byte(0x28 + i)
			add(fmt.Sprintf("load %#x", op), size, nil, []byte{op}, []byte{0x1a})
		}
		for i, s := range stores {
			op := byte(0x36 + i)
			add(fmt.Sprintf("store %#x", op), s.size, constants[s.kind], []byte{op}, nil)
		}
		add("v128.load", 16, nil, []byte{0xfd, 0x00}, []byte{0x1a})
		add("v128.load64_splat", 8, nil, []byte{0xfd, 0x0a}, []byte{0x1a})
		add("v128.store", 16, []byte{0x41, 0, 0xfd, 0x0f}, []byte{0xfd, 0x0b}, nil)
	}
	return append(all,
		access{"memory.fill", 8, 0, []byte{0x20, 0, 0x41, 0, 0x41, 8, 0xfc, 0x0b, 0}},
		access{"memory.copy to", 8, 0, []byte{0x20, 0, 0x41, 0, 0x41, 8, 0xfc, 0x0a, 0, 0}},
		access{"memory.copy from", 8, 0, []byte{0x41, 0, 0x20, 0, 0x41, 8, 0xfc, 0x0a, 0, 0}},
		// the code of this version may read 16 bytes for a value of 8: see the advisories in docs/engines.md
		access{"f64.copysign", 8, 0, []byte{0x20, 0, 0x20, 0, 0x2b, 0, 0, 0x20, 0, 0xb7, 0xa6, 0x39, 0, 0}},
	)
}

// accessModule has a memory of 1 to 8 pages, which is exported, the accesses by their names, grow, which grows the memory by a number
// of pages, deep, which accesses the address after as many calls, and spin, which loads as often from the beginning.
func accessModule(all []access) []byte {
	names, bodies := []string{}, [][]byte{}
	for _, a := range all {
		names, bodies = append(names, a.name), append(bodies, append(a.code, 0x0b))
	}
	self := len(all) + 1
	names = append(names, "grow", "deep", "spin")
	deep := append([]byte{0x20, 0, 0x45, 0x04, 0x40, 0x41, 0x7f, 0x28, 0, 0, 0x1a, 0x0b, 0x20, 0, 0x41, 1, 0x6b, 0x10}, binary.AppendUvarint(nil, uint64(self))...)
	bodies = append(bodies,
		[]byte{0x20, 0, 0x40, 0, 0x1a, 0x0b},
		append(deep, 0x0b),
		[]byte{0x03, 0x40, 0x41, 0, 0x28, 0, 0, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x6a, 0x0d, 0, 0x0b, 0x0b},
	)
	functions, exports, code := [][]byte{}, [][]byte{append(text("memory"), 2, 0)}, [][]byte{}
	for i, body := range bodies {
		functions = append(functions, []byte{0})
		exports = append(exports, binary.AppendUvarint(append(text(names[i]), 0), uint64(i)))
		code = append(code, append(binary.AppendUvarint(nil, uint64(len(body)+1)), append([]byte{0}, body...)...))
	}
	module := []byte("\x00asm\x01\x00\x00\x00\x01\x05\x01\x60\x01\x7f\x00")
	module = append(module, section(3, functions)...)
	module = append(module, 5, 4, 1, 1, 1, 8)
	return append(append(module, section(7, exports)...), section(10, code)...)
}

func text(s string) []byte { return append(binary.AppendUvarint(nil, uint64(len(s))), s...) }

func section(id byte, items [][]byte) []byte {
	body := binary.AppendUvarint(nil, uint64(len(items)))
	for _, item := range items {
		body = append(body, item...)
	}
	return append(binary.AppendUvarint([]byte{id}, uint64(len(body))), body...)
}

// guarded returns an engine with guards, and the module of accesses on it.
func guarded(t *testing.T) (engine.Module, []access) {
	t.Helper()
	e, err := wasmtime.OpenGuarded(engine.Config{Tested: &engine.Tests{Resizes: true}})
	if err != nil {
		t.Fatal(err)
	}
	all := accesses()
	m, err := e.Compile(t.Context(), accessModule(all), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(m.Close(), e.Close()); err != nil {
			t.Error(err)
		}
	})
	return m, all
}

const pages = 8

// inMemory makes an instance of a module with guards, in a memory of up to 8 pages.
func inMemory(t *testing.T, m engine.Module) engine.Instance {
	t.Helper()
	memory, err := snapshot.Blank(pages*engine.PageSize, m.(engine.Reserver).Reservation())
	if err != nil {
		t.Fatal(err)
	}
	inst, err := m.Instantiate(context.Background(), nil, memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(inst.Close(), memory.Release()); err != nil {
			t.Error(err)
		}
	})
	return inst
}

// wantTrap fails the test unless a call ends as an access outside of the memory.
func wantTrap(t *testing.T, inst engine.Instance, export string, param uint64) {
	t.Helper()
	var trap *engine.Trap
	if err := inst.Call(context.Background(), export, []uint64{param}); !errors.As(err, &trap) || trap.Reason != "out of bounds memory access" {
		t.Errorf("%s %#x: got %v", export, param, err)
	}
}

func TestGuardsEndEachAccessOutsideOfTheMemory(t *testing.T) {
	m, all := guarded(t)
	inst := inMemory(t, m)
	for size := uint64(engine.PageSize); size <= pages*engine.PageSize; size += (pages - 1) * engine.PageSize {
		for _, a := range all {
			if last := size - a.size; last >= a.offset && a.name != "f64.copysign" {
				if err := inst.Call(t.Context(), a.name, []uint64{last - a.offset}); err != nil {
					t.Errorf("%s of the last bytes: %v", a.name, err)
				}
			}
			for _, address := range []uint64{size - a.size + 1, size - 1, size, size + engine.PageSize, 1 << 31, 1<<32 - 1} {
				if address+a.offset+a.size > size {
					wantTrap(t, inst, a.name, address)
				}
			}
		}
		if err := inst.Call(t.Context(), "grow", []uint64{pages - 1}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGuardsFollowAMemoryThatShrinks(t *testing.T) {
	m, _ := guarded(t)
	image, err := snapshot.New(make([]byte, engine.PageSize), snapshot.Config{Limit: pages * engine.PageSize, Span: m.(engine.Reserver).Reservation()})
	if err != nil {
		t.Fatal(err)
	}
	memory, err := image.Memory()
	if err != nil {
		t.Fatal(err)
	}
	inst, err := m.Instantiate(t.Context(), nil, memory)
	if err != nil {
		t.Fatal(err)
	}
	const store = "store 0x36+0"
	for range 3 {
		wantTrap(t, inst, store, engine.PageSize)
		for size := uint64(4); size <= pages; size += 3 {
			if err := inst.Call(t.Context(), "grow", []uint64{3}); err != nil {
				t.Fatal(err)
			}
			if err := inst.Call(t.Context(), store, []uint64{size*engine.PageSize - 4}); err != nil {
				t.Errorf("in %d pages: %v", size, err)
			}
		}
		if err := memory.Reset(inst.Resize); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(inst.Close(), memory.Release(), image.Close()); err != nil {
		t.Error(err)
	}
}

func TestGuardsRefuseAMemoryWithoutAddressSpace(t *testing.T) {
	m, _ := guarded(t)
	for _, span := range []uint64{0, 2 << 30} {
		memory, err := snapshot.Blank(pages*engine.PageSize, span)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Instantiate(t.Context(), nil, memory); err == nil {
			t.Errorf("a memory with %d bytes of address space is taken", span)
		}
		if err := memory.Release(); err != nil {
			t.Error(err)
		}
	}
}

func TestGuardsLeaveOtherFaultsToGo(t *testing.T) {
	m, _ := guarded(t)
	inst := inMemory(t, m)
	for range 100 {
		wantTrap(t, inst, "load 0x28+0", 1<<31)
		wantTrap(t, inst, "deep", 10_000)
		if err := faultInGo(nil); err == nil {
			t.Fatal("loading from nil was no panic")
		}
	}
}

// faultInGo loads from an address, and returns the error of the panic.
func faultInGo(p *[2]int) (err error) {
	defer func() { err, _ = recover().(runtime.Error) }()
	_ = p[1]
	return nil
}

// Go interrupts threads by a signal, which comes at any instruction of a guest, of the handler of a fault, and of the way back.
func TestGuardsHoldOnManyThreadsAmidSignals(t *testing.T) {
	m, all := guarded(t)
	done := make(chan struct{})
	var storm, guests sync.WaitGroup
	storm.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				interruptAll(t)
				runtime.GC()
			}
		}
	})
	for n := range 8 {
		inst := inMemory(t, m)
		guests.Go(func() {
			for round := range 100 {
				a := all[(round*8+n)%len(all)]
				wantTrap(t, inst, a.name, 1<<32-1)
				wantTrap(t, inst, "deep", 200)
				if err := inst.Call(context.Background(), "spin", []uint64{20_000}); err != nil {
					t.Errorf("spin: %v", err)
				}
				if faultInGo(nil) == nil {
					t.Error("loading from nil was no panic")
				}
			}
		})
	}
	guests.Wait()
	close(done)
	storm.Wait()
}

// interruptAll sends the signal of Go's scheduler to all threads of this process.
func interruptAll(t *testing.T) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Error(err)
	}
	for _, thread := range threads {
		if id, err := strconv.Atoi(thread.Name()); err == nil {
			_ = syscall.Tgkill(os.Getpid(), id, syscall.SIGURG) // the thread may have ended
		}
	}
}
