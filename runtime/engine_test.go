package runtime_test

import (
	"context"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/engine"
)

// A goEngine runs a guest that is a Go function: for what no WebAssembly can be made to do at will.
type goEngine struct {
	instantiate func()
	// run is the guest's only export; imports are those of [abi.ImportModule].
	run func(ctx context.Context, imports func(name string, stack ...uint64) uint64) abi.Code
}

type goModule struct {
	engine *goEngine
	host   map[string]engine.HostFunc
}

type goInstance struct {
	goModule
	caller any
}

// noMemory is all zeros.
type noMemory struct{}

func (noMemory) Read(_, n uint32) ([]byte, bool) { return make([]byte, n), true }
func (noMemory) Write(uint32, []byte) bool       { return true }

func (e *goEngine) Compile(_ context.Context, _ []byte, host []engine.HostFunc, _ uint32) (engine.Module, error) {
	m := goModule{e, map[string]engine.HostFunc{}}
	for _, f := range host {
		if f.Module == abi.ImportModule {
			m.host[f.Name] = f
		}
	}
	return m, nil
}
func (e *goEngine) Close() error { return nil }

func (m goModule) Exports() map[string]abi.Signature {
	return map[string]abi.Signature{abi.ExportCall: abi.Exports()[abi.ExportCall]}
}
func (m goModule) HasMemory() bool { return true }
func (m goModule) Close() error    { return nil }
func (m goModule) Instantiate(_ context.Context, caller any) (engine.Instance, error) {
	if m.engine.instantiate != nil {
		m.engine.instantiate()
	}
	return goInstance{m, caller}, nil
}

func (i goInstance) MemoryRefused() bool { return false }
func (i goInstance) Close() error        { return nil }
func (i goInstance) Call(ctx context.Context, _ string, stack []uint64) error {
	code := i.engine.run(ctx, func(name string, args ...uint64) uint64 {
		i.host[name].Call(ctx, noMemory{}, i.caller, args)
		return args[0]
	})
	stack[0] = uint64(code)
	return nil
}

func loadGo(t *testing.T, e *goEngine) *runtime.Module {
	t.Helper()
	p := &guesttest.Puppet{Manifest: abi.Manifest{Name: "go", Ops: 1<<abi.OpList | 1<<abi.OpRead}}
	m, err := runtime.Load(t.Context(), runtime.Config{Engine: e}, p.Binary(t))
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

func TestAnEngineThatPanicsEndsACallAndNotTheProcess(t *testing.T) {
	tried := make(chan struct{}, 8)
	m := loadGo(t, &goEngine{instantiate: func() { tried <- struct{}{}; panic("the engine") }})
	if _, err := m.Call(t.Context(), abi.OpList, &abi.Request{}, nil); abi.CodeOf(err) != abi.CodeInternal || err.Error() != "internal" {
		t.Errorf("got %v, want internal and nothing of the panic", err)
	}
	<-tried
	<-tried // once by the call, once ahead of the next one
}

func TestACallThatEndsWhileTheGuestEmitsIsNoSuccess(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var got abi.Signal
	m := loadGo(t, &goEngine{run: func(_ context.Context, imports func(string, ...uint64) uint64) abi.Code {
		cancel() // too late for the engine to refuse what comes next
		got = abi.Signal(int32(imports(abi.ImportEmit, 0, 0)))
		return abi.CodeOK
	}})
	_, err := m.Call(ctx, abi.OpList, &abi.Request{}, nil)
	if abi.CodeOf(err) != abi.CodeCancelled || got != abi.SignalCancelled {
		t.Errorf("got %v, signal %d, want cancelled: what was emitted is lost", err, got)
	}
}
