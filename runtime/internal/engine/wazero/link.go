package wazero

import (
	"context"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
)

type importName struct{ module, name string }

// link checks all functions that a module imports against host, and instantiates host modules that have these, and no others: each
// function takes time and memory.
func link(ctx context.Context, rt wazero.Runtime, binary []byte, host []engine.HostFunc) error {
	imports, err := importsOf(binary)
	if err != nil {
		return abi.Errorf(abi.CodeModule, "the imports of the module cannot be read").Because(err)
	}
	known := make(map[importName]engine.HostFunc, len(host))
	for _, f := range host {
		known[importName{f.Module, f.Name}] = f
	}
	wanted := map[string][]engine.HostFunc{}
	for _, i := range imports {
		f, ok := known[i.importName]
		if !ok {
			return abi.Errorf(abi.CodeIncompatible, "the module imports %.64q.%.64q, which no host function has", i.module, i.name)
		}
		if !i.signature.Equal(f.Type) {
			return abi.Errorf(abi.CodeIncompatible, "the module imports %s.%s as %s, expected %s", i.module, i.name, i.signature, f.Type)
		}
		isSame := func(other engine.HostFunc) bool { return other.Name == i.name } // a module may import a function twice
		if !slices.ContainsFunc(wanted[i.module], isSame) {
			wanted[i.module] = append(wanted[i.module], f)
		}
	}
	for name, functions := range wanted {
		if err := defineHostModule(ctx, rt, name, functions); err != nil {
			return fmt.Errorf("link %s: %w", name, err)
		}
	}
	return nil
}

// defineHostModule instantiates a host module with some functions.
func defineHostModule(ctx context.Context, rt wazero.Runtime, name string, functions []engine.HostFunc) error {
	b := rt.NewHostModuleBuilder(name)
	for _, f := range functions {
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

func valueTypes(types []abi.ValueType) []api.ValueType {
	out := make([]api.ValueType, len(types))
	for i, t := range types {
		out[i] = api.ValueType(t)
	}
	return out
}
