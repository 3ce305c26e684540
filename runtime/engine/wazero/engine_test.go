package wazero_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/engine"
	"github.com/wasmres/wasmres/runtime/engine/wazero"
)

func open(t *testing.T, dir string) *wazero.Engine {
	t.Helper()
	e, err := wazero.Open(wazero.Config{CacheDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
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

func compile(t *testing.T, e *wazero.Engine, call func()) engine.Module {
	t.Helper()
	binary, err := os.ReadFile("../../../testdata/wasm/faults.wasm")
	if err != nil {
		t.Fatal(err)
	}
	m, err := e.Compile(t.Context(), binary, hostFuncs(call), 16)
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

func TestTheCacheFolderIsPrivateAndUsed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	compile(t, open(t, dir), func() {})
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v, want mode 0700", info.Mode(), err)
	}
	entries, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(entries) == 0 {
		t.Errorf("the cache is empty: %v", err)
	}
}

func TestACacheFolderOthersCanWriteToIsRefused(t *testing.T) {
	shared := t.TempDir()
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	planted := t.TempDir()
	if err := os.Chmod(planted, 0o700); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(planted, "wazero-"+wazero.Version+"-elsewhere")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(inside, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{shared, planted} {
		if _, err := wazero.Open(wazero.Config{CacheDir: dir}); err == nil || !strings.Contains(err.Error(), "private to you") {
			t.Errorf("%s: got %v, want a refusal", dir, err)
		}
	}
}

func TestAHostFunctionIsNotEnteredOnceTheCallHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	entered := 0
	m := compile(t, open(t, ""), func() { entered++; cancel() })
	inst, err := m.Instantiate(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer inst.Close()
	stack := []uint64{uint64(abi.OpRead), 0} // take, then emit
	err = inst.Call(ctx, abi.ExportCall, stack)
	if !errors.Is(err, context.Canceled) && err == nil {
		t.Errorf("got %v, want an end", err)
	}
	if entered != 1 {
		t.Errorf("host functions were entered %d times, want once", entered)
	}
}

func TestAStopIsTheErrorOfTheCall(t *testing.T) {
	reason := errors.New("enough")
	m := compile(t, open(t, ""), func() { panic(engine.Stop{Err: reason}) })
	inst, err := m.Instantiate(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer inst.Close()
	if err := inst.Call(t.Context(), abi.ExportCall, []uint64{0, 0}); !errors.Is(err, reason) {
		t.Errorf("got %v, want %v", err, reason)
	}
}

// The engine is pinned: each of its settings was chosen for the behaviour of this version.
func TestTheVersionIsTheOneThisPackageIsWrittenFor(t *testing.T) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		t.Fatal("no build info")
	}
	for _, dep := range info.Deps {
		if dep.Path == "github.com/tetratelabs/wazero" && dep.Version != wazero.Version {
			t.Errorf("linked with %s, written for %s: check every setting and comment of this package", dep.Version, wazero.Version)
		}
	}
}

func TestClosedInstancesAndModulesLeaveNothingRunning(t *testing.T) {
	e := open(t, "")
	before := goruntime.NumGoroutine()
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		m := compile(t, e, func() {})
		inst, err := m.Instantiate(ctx, nil)
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
