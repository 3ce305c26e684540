package enginetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
)

// Test tests the behaviour that all engines share. open opens the engine until the end of the test. Call it in the folder of a
// package that is beside this one.
func Test(t *testing.T, open func(t *testing.T, cfg engine.Config) engine.Engine) {
	s := suite(open)
	t.Run("theCacheDirIsPrivateAndUsed", s.theCacheDirIsPrivateAndUsed)
	t.Run("aStopIsTheErrorOfTheCallAndTheInstanceContinues", s.aStopIsTheErrorOfTheCallAndTheInstanceContinues)
	t.Run("aTrapSaysWhatWasRunning", s.aTrapSaysWhatWasRunning)
	t.Run("memoryIsWhatTheHostGives", s.memoryIsWhatTheHostGives)
	t.Run("globalsAreThoseThatAreExportedAndMutable", s.globalsAreThoseThatAreExportedAndMutable)
	t.Run("recursionWithoutEndIsStackExhausted", s.recursionWithoutEndIsStackExhausted)
	t.Run("precompilingDecides", s.precompilingDecides)
	t.Run("closedInstancesAndModulesLeaveNothingRunning", s.closedInstancesAndModulesLeaveNothingRunning)
}

type suite func(t *testing.T, cfg engine.Config) engine.Engine

func (s suite) open(t *testing.T) engine.Engine { return s(t, engine.Config{}) }

func (s suite) compile(t *testing.T, call func()) engine.Module {
	t.Helper()
	return compile(t, s.open(t), call)
}

func (s suite) aStopIsTheErrorOfTheCallAndTheInstanceContinues(t *testing.T) {
	reason := errors.New("enough")
	var stop bool
	m := s.compile(t, func() {
		if stop {
			panic(engine.Stop{Err: reason})
		}
	})
	inst := instantiate(t, m, new(heap))
	for _, stop = range []bool{true, false, true, false} {
		err := inst.Call(t.Context(), abi.ExportCall, []uint64{0, 0})
		if stop && !errors.Is(err, reason) || !stop && err != nil {
			t.Errorf("stop %v: got %v", stop, err)
		}
	}
}

func (s suite) aTrapSaysWhatWasRunning(t *testing.T) {
	stop := false
	m := s.compile(t, func() {
		if stop {
			panic(engine.Stop{Err: errors.New("enough\nwasm stack trace:\n\t.$1()")})
		}
	})
	memory := new(heap)
	inst := instantiate(t, m, memory)
	for _, c := range []struct {
		letter byte
		stop   bool
		reason string
		stack  []uint32
	}{
		{'a', false, "unreachable", []uint32{8}},
		{'q', false, "stack overflow", nil},
		{'o', true, "stopped by the host", []uint32{8}},
	} {
		stop = c.stop
		copy(memory.bytes, "\x0a\x03x:"+string(c.letter))
		err := inst.Call(t.Context(), abi.ExportCall, []uint64{2, 5})
		var trap *engine.Trap
		if !errors.As(err, &trap) || trap.Reason != c.reason || !slices.Equal(trap.Stack, c.stack) {
			t.Errorf("%c: got %+v", c.letter, trap)
		}
	}
}

func (s suite) memoryIsWhatTheHostGives(t *testing.T) {
	m := s.compile(t, func() {})
	memory := new(heap)
	inst := instantiate(t, m, memory)
	if !inst.Memory().Write(engine.PageSize-1, []byte{7}) || memory.bytes[engine.PageSize-1] != 7 {
		t.Error("what is written does not arrive in the memory")
	}
	before := len(memory.bytes)
	memory.shrink = 2 * engine.PageSize
	if err := inst.Resize(); err != nil {
		t.Fatal(err)
	}
	if inst.Memory().Write(2*engine.PageSize, []byte{7}) || !inst.Memory().Write(2*engine.PageSize-1, []byte{7}) {
		t.Errorf("the memory, of %d bytes at first, does not end at 2 pages", before)
	}
	if err := inst.Close(); err != nil || memory.freed != 1 {
		t.Errorf("freed %d times, %v", memory.freed, err)
	}
}

func (s suite) globalsAreThoseThatAreExportedAndMutable(t *testing.T) {
	// (module (global (export "m") (mut i64) (i64.const 5)) (global (export "c") i32 (i32.const 1)) (memory 1))
	binary := []byte("\x00asm\x01\x00\x00\x00\x05\x03\x01\x00\x01\x06\x0b\x02\x7e\x01\x42\x05\x0b\x7f\x00\x41\x01\x0b\x07\x09\x02\x01m\x03\x00\x01c\x03\x01")
	m, err := s.open(t).Compile(t.Context(), binary, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	inst := instantiate(t, m, new(heap))
	g := inst.Global("m")
	g.Set(g.Get() + 1<<40)
	if got := inst.Global("m").Get(); got != 5+1<<40 {
		t.Errorf("got %d", got)
	}
	for _, name := range []string{"c", "none"} {
		if inst.Global(name) != nil {
			t.Errorf("%s is given as a mutable global", name)
		}
	}
}

func (s suite) recursionWithoutEndIsStackExhausted(t *testing.T) {
	// (module (memory 1) (func $f (export "f") (call $f)))
	binary := []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x05\x03\x01\x00\x01\x07\x05\x01\x01f\x00\x00\x0a\x06\x01\x04\x00\x10\x00\x0b")
	m, err := s.open(t).Compile(t.Context(), binary, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	inst := instantiate(t, m, new(heap))
	for range 2 {
		if err := inst.Call(t.Context(), "f", nil); !errors.Is(err, engine.ErrStack) {
			t.Errorf("got %v, want the stack exhausted", err)
		}
	}
}

func (s suite) precompilingDecides(t *testing.T) {
	refused := errors.New("not this one")
	asked := 0
	e := s(t, engine.Config{Precompile: func(context.Context, []byte) (string, error) {
		asked++
		return "", refused
	}})
	if _, err := e.Compile(t.Context(), []byte("\x00asm\x01\x00\x00\x00"), nil); !errors.Is(err, refused) || asked != 1 {
		t.Errorf("got %v, asked %d times", err, asked)
	}
}

func (s suite) closedInstancesAndModulesLeaveNothingRunning(t *testing.T) {
	e := s.open(t)
	before := goruntime.NumGoroutine()
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		m := compile(t, e, func() {})
		inst, err := m.Instantiate(ctx, nil, new(heap))
		if err != nil {
			t.Fatal(err)
		}
		_ = inst.Call(ctx, abi.ExportCall, []uint64{uint64(abi.OpRead), 0})
		cancel()
		if err := inst.Close(); err != nil {
			t.Error(err)
		}
		if err := inst.Close(); err != nil {
			t.Errorf("second close: %v", err)
		}
	}
	for deadline := time.Now().Add(5 * time.Second); goruntime.NumGoroutine() > before+1; goruntime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d at the start", goruntime.NumGoroutine(), before)
		}
	}
}

// hostFuncs link the module faults.wasm; emit runs call.
func hostFuncs(call func()) []engine.HostFunc {
	var fs []engine.HostFunc
	for name, sig := range abi.Imports() {
		fs = append(fs, engine.HostFunc{
			Module: abi.ImportModule, Name: name, Type: sig,
			Call: func(_ context.Context, _ engine.Memory, _ any, stack []uint64) {
				call()
				if len(stack) > 0 {
					stack[0] = 0
				}
			},
		})
	}
	i32 := abi.I32
	return append(fs,
		engine.HostFunc{Module: "wasi_snapshot_preview1", Name: "proc_exit", Type: abi.Signature{Params: []abi.ValueType{i32}}, Call: nothing},
		engine.HostFunc{Module: "wasi_snapshot_preview1", Name: "fd_write", Type: abi.Signature{Params: []abi.ValueType{i32, i32, i32, i32}, Results: []abi.ValueType{i32}}, Call: nothing},
	)
}

func nothing(context.Context, engine.Memory, any, []uint64) {}

func compile(t *testing.T, e engine.Engine, call func()) engine.Module {
	t.Helper()
	binary, err := os.ReadFile("../../../../testdata/wasm/faults.wasm")
	if err != nil {
		t.Fatal(err)
	}
	m, err := e.Compile(t.Context(), binary, hostFuncs(call))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func instantiate(t *testing.T, m engine.Module, memory engine.LinearMemory) engine.Instance {
	t.Helper()
	inst, err := m.Instantiate(t.Context(), nil, memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := inst.Close(); err != nil {
			t.Error(err)
		}
	})
	return inst
}

// heap is a memory of any size up to a limit, which may be told to shrink.
type heap struct {
	bytes  []byte
	shrink uint64 // the size that Reallocate gives; 0 for the requested size
	freed  int
}

func (h *heap) Reallocate(size uint64) []byte {
	if h.shrink > 0 {
		size = h.shrink
	}
	if size > 4*engine.PageSize {
		return nil
	}
	for uint64(len(h.bytes)) < size {
		h.bytes = append(h.bytes, 0)
	}
	return h.bytes[:size]
}

func (h *heap) Free() { h.freed++ }

func (s suite) theCacheDirIsPrivateAndUsed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	compile(t, s(t, engine.Config{CacheDir: dir}), func() {})
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v, want mode 0700", info.Mode(), err)
	}
	entries, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(entries) == 0 {
		t.Errorf("the cache is empty: %v", err)
	}
}
