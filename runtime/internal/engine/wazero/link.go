package wazero

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
)

type importName struct{ module, name string }

// link checks all imported functions against host, and instantiates the host modules that have them.
func link(ctx context.Context, rt wazero.Runtime, compiled wazero.CompiledModule, host []engine.HostFunc) error {
	known := make(map[importName]engine.HostFunc, len(host))
	for _, f := range host {
		known[importName{f.Module, f.Name}] = f
	}
	wanted := map[string]bool{}
	for _, def := range compiled.ImportedFunctions() {
		mod, name, _ := def.Import()
		f, ok := known[importName{mod, name}]
		if !ok {
			return abi.Errorf(abi.CodeIncompatible, "the module imports %.64q.%.64q, which no host function has", mod, name)
		}
		if got := signature(def); !got.Equal(f.Type) {
			return abi.Errorf(abi.CodeIncompatible, "the module imports %s.%s as %s, expected %s", mod, name, got, f.Type)
		}
		wanted[mod] = true
	}
	for mod := range wanted {
		if err := defineHostModule(ctx, rt, mod, host); err != nil {
			return fmt.Errorf("link %s: %w", mod, err)
		}
	}
	return nil
}

func defineHostModule(ctx context.Context, rt wazero.Runtime, name string, host []engine.HostFunc) error {
	b := rt.NewHostModuleBuilder(name)
	for _, f := range host {
		if f.Module != name {
			continue
		}
		b.NewFunctionBuilder().
			WithGoModuleFunction(adapt(f.Call), valueTypes(f.Type.Params), valueTypes(f.Type.Results)).
			Export(f.Name)
	}
	_, err := b.Instantiate(ctx)
	return err
}

func adapt(call func(context.Context, engine.Memory, any, []uint64)) api.GoModuleFunc {
	return func(ctx context.Context, mod api.Module, stack []uint64) {
		call(ctx, mod.Memory(), ctx.Value(hostKey{}), stack)
	}
}

func signature(def api.FunctionDefinition) abi.Signature {
	return abi.Signature{Params: abiTypes(def.ParamTypes()), Results: abiTypes(def.ResultTypes())}
}

func abiTypes(types []api.ValueType) []abi.ValueType {
	out := make([]abi.ValueType, len(types))
	for i, t := range types {
		out[i] = abi.ValueType(t)
	}
	return out
}

func valueTypes(types []abi.ValueType) []api.ValueType {
	out := make([]api.ValueType, len(types))
	for i, t := range types {
		out[i] = api.ValueType(t)
	}
	return out
}
