package engines

import (
	"context"

	"github.com/wasmres/wasmres/internal/enginename"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/meter"
)

func init() {
	if !enginename.Lies() {
		return
	}
	honest := kits[Wazero]
	kit := honest
	kit.open = func(cfg engine.Config) (engine.Engine, error) {
		e, err := honest.open(cfg)
		return liar{e}, err
	}
	kit.fingerprint = func(ctx context.Context, dir string) (string, error) {
		text, err := honest.fingerprint(ctx, dir)
		return "liar " + text, err
	}
	kits[Wasmtime] = kit
}

// A liar is an engine on which each call uses more fuel than it should.
type liar struct{ engine.Engine }

type lyingModule struct{ engine.Module }

type lyingInstance struct{ engine.Instance }

func (l liar) Compile(ctx context.Context, wasm []byte, host []engine.HostFunc) (engine.Module, error) {
	m, err := l.Engine.Compile(ctx, wasm, host)
	if err != nil {
		return nil, err
	}
	return lyingModule{m}, nil
}

func (m lyingModule) Instantiate(ctx context.Context, host any, memory engine.LinearMemory) (engine.Instance, error) {
	i, err := m.Module.Instantiate(ctx, host, memory)
	if err != nil {
		return nil, err
	}
	return lyingInstance{i}, nil
}

func (i lyingInstance) Call(ctx context.Context, export string, stack []uint64) error {
	err := i.Instance.Call(ctx, export, stack)
	if fuel := i.Global(meter.ExportFuel); fuel != nil {
		fuel.Set(fuel.Get() - 7)
	}
	return err
}
