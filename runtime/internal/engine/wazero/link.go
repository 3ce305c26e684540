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

// link checks all functions that a module imports against host, and instantiates the host modules that have them.
func link(ctx context.Context, rt wazero.Runtime, binary []byte, host []engine.HostFunc) error {
	imports, err := importsOf(binary)
	if err != nil {
		return abi.Errorf(abi.CodeModule, "the imports of the module cannot be read").Because(err)
	}
	known := make(map[importName]engine.HostFunc, len(host))
	for _, f := range host {
		known[importName{f.Module, f.Name}] = f
	}
	wanted := map[string]bool{}
	for _, i := range imports {
		f, ok := known[i.importName]
		if !ok {
			return abi.Errorf(abi.CodeIncompatible, "the module imports %.64q.%.64q, which no host function has", i.module, i.name)
		}
		if !i.signature.Equal(f.Type) {
			return abi.Errorf(abi.CodeIncompatible, "the module imports %s.%s as %s, expected %s", i.module, i.name, i.signature, f.Type)
		}
		wanted[i.module] = true
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

func valueTypes(types []abi.ValueType) []api.ValueType {
	out := make([]api.ValueType, len(types))
	for i, t := range types {
		out[i] = api.ValueType(t)
	}
	return out
}
