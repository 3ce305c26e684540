package provider_test

import (
	"context"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/pool"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// A goEngine runs a guest that is a Go function, for behaviour that is hard to write in WebAssembly.
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
	memory engine.LinearMemory
	bytes  []byte
	global map[string]*goGlobal
}

type goGlobal struct{ value uint64 }

func (g *goGlobal) Get() uint64  { return g.value }
func (g *goGlobal) Set(v uint64) { g.value = v }

// noMemory is all zeros.
type noMemory struct{}

func (noMemory) Read(_, n uint32) ([]byte, bool) { return make([]byte, n), true }
func (noMemory) Write(uint32, []byte) bool       { return true }

func (e *goEngine) Compile(_ context.Context, _ []byte, host []engine.HostFunc) (engine.Module, error) {
	m := goModule{e, map[string]engine.HostFunc{}}
	for _, f := range host {
		if f.Module == abi.ImportModule {
			m.host[f.Name] = f
		}
	}
	return m, nil
}
func (e *goEngine) Close() error { return nil }

func (m goModule) Close() error { return nil }
func (m goModule) Instantiate(_ context.Context, caller any, memory engine.LinearMemory) (engine.Instance, error) {
	if m.engine.instantiate != nil {
		m.engine.instantiate()
	}
	i := &goInstance{goModule: m, caller: caller, memory: memory, global: map[string]*goGlobal{}}
	i.bytes = memory.Reallocate(engine.PageSize)
	return i, nil
}

func (i *goInstance) Memory() engine.Memory { return noMemory{} }
func (i *goInstance) Global(name string) engine.Global {
	if i.global[name] == nil {
		i.global[name] = new(goGlobal)
	}
	return i.global[name]
}
func (i *goInstance) Resize() error {
	i.bytes = i.memory.Reallocate(uint64(len(i.bytes)) + engine.PageSize)
	return nil
}
func (i *goInstance) Close() error {
	i.memory.Free()
	return nil
}
func (i *goInstance) Call(ctx context.Context, _ string, stack []uint64) (err error) {
	defer func() {
		p := recover()
		if stop, ok := p.(engine.Stop); ok {
			err = stop
		} else if p != nil {
			panic(p)
		}
	}()
	code := i.engine.run(ctx, func(name string, args ...uint64) uint64 {
		i.host[name].Call(ctx, noMemory{}, i.caller, args)
		return args[0]
	})
	stack[0] = uint64(code)
	return nil
}

func loadGo(t *testing.T, e *goEngine) *provider.Provider {
	t.Helper()
	p := &guesttest.Puppet{Manifest: abi.Manifest{Name: "go", Ops: 1<<abi.OpList | 1<<abi.OpRead}}
	return openBinary(t, provider.Config{Runner: pool.InProcess{Engine: e}}, p.Binary(t))
}

func TestAnEngineThatPanicsEndsACallAndNotTheProcess(t *testing.T) {
	for name, e := range map[string]*goEngine{
		"instantiating": {instantiate: func() {}},
		"running":       {run: func(context.Context, func(string, ...uint64) uint64) abi.Code { panic("the engine") }},
	} {
		t.Run(name, func(t *testing.T) {
			m := loadGo(t, e)
			if name == "instantiating" {
				e.instantiate = func() { panic("the engine") }
			}
			for range 2 {
				if _, err := m.Call(t.Context(), abi.OpList, &abi.Request{}, nil); abi.CodeOf(err) != abi.CodeInternal || err.Error() != "internal" {
					t.Errorf("got %v, want internal and nothing of the panic", err)
				}
			}
		})
	}
}

func TestAGuestIsStoppedAtTheFirstHostCallAfterTheEndOfItsCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := loadGo(t, &goEngine{run: func(_ context.Context, imports func(string, ...uint64) uint64) abi.Code {
		cancel()
		imports(abi.ImportEmit, 0, 0)
		t.Error("the guest went on")
		return abi.CodeOK
	}})
	if _, err := m.Call(ctx, abi.OpList, &abi.Request{}, nil); abi.CodeOf(err) != abi.CodeCancelled {
		t.Errorf("got %v, want cancelled: what was emitted is lost", err)
	}
}
