package abitest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/abi/abitest"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/project"
	wasmformat "github.com/wasmres/wasmres/runtime/wasm"
)

// TestGoGuest holds the Go SDK to the kit.
func TestGoGuest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a guest")
	}
	abitest.Run(t, load(t, guesttest.Kit(t, project.Go), true))
}

// TestDocumentedGuest compiles the guest of docs/abi.md as its readers would, if there is a compiler.
func TestDocumentedGuest(t *testing.T) {
	clang := guesttest.Tool(t, "apt-get install clang", "clang", "clang-14")
	guesttest.Tool(t, "apt-get install lld", "wasm-ld", "wasm-ld-14") // which clang calls
	text, err := os.ReadFile("../../docs/abi.md")
	if err != nil {
		t.Fatal(err)
	}
	_, source, _ := strings.Cut(string(text), "```c\n")
	source, _, ok := strings.Cut(source, "```")
	if !ok {
		t.Fatal("docs/abi.md has no guest in C")
	}
	dir := t.TempDir()
	wasm := filepath.Join(dir, "hello.wasm")
	if err := os.WriteFile(filepath.Join(dir, "hello.c"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	guesttest.Run(t, dir, nil, clang, "--target=wasm32", "-O2", "-mbulk-memory", "-nostdlib", "-Wl,--no-entry", "-o", wasm, "hello.c")
	guest := load(t, wasm, false)
	m := ask(t, guest, abi.OpDescribe, abi.Request{HostMinor: 7}).Reply.Manifest
	if m == nil || m.Check() != nil || len(m.Templates) != 1 || m.Templates[0].URITemplate != "hello://{name}" {
		t.Errorf("got manifest %+v", m)
	}
	long := strings.Repeat("a", 2000)
	for _, name := range []string{"Ada", "", "世界", long} {
		o := ask(t, guest, abi.OpRead, abi.Request{URI: "hello://x", Route: 1, Vars: []abi.Var{{Name: "name", Value: name}}, MaxBytes: 1 << 20})
		if len(o.Contents) != 1 || string(o.Contents[0].Body) != "Hello, "+name+"!" || o.Contents[0].URI != "hello://x" {
			t.Errorf("%q: got %+v", name, o)
		}
	}
	if o := ask(t, guest, abi.OpList, abi.Request{}); o.Code != abi.CodeUnsupported {
		t.Errorf("LIST: got %v, want unsupported", o.Code)
	}
}

// ask has a guest do one operation, and fails the test when what it did is no outcome.
func ask(t *testing.T, guest abitest.Guest, op abi.Op, req abi.Request) abitest.Outcome {
	t.Helper()
	x := &abitest.Exchange{Request: req.Append(nil)}
	o, err := x.Outcome(guest(t, op, x))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// load makes a guest of a module, with wazero as it comes and nothing of the runtime: a host of its own. What wazero makes
// of the module stays beside it. Instances of a guest that is restored are one instance, with the memory and the globals of
// its start: starting another takes several times as long, and some tests make thousands of calls.
func load(t *testing.T, path string, restore bool) abitest.Guest {
	t.Helper()
	binary, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(filepath.Dir(path), "compiled"))
	if err != nil {
		t.Fatal(err)
	}
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(cache))
	t.Cleanup(func() {
		if err := errors.Join(rt.Close(ctx), cache.Close(ctx)); err != nil {
			t.Error(err)
		}
	})
	wasi_snapshot_preview1.MustInstantiate(ctx, rt)
	if _, err := imports(rt).Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	abort := func(message, file, line, column uint32) { panic(fmt.Sprintf("env.abort, line %d", line)) }
	if _, err := rt.NewHostModuleBuilder("env").NewFunctionBuilder().WithFunc(abort).Export("abort").Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	if restore {
		binary = exportGlobals(t, binary)
	}
	module, err := rt.CompileModule(ctx, binary)
	if err != nil {
		t.Fatal(err)
	}
	start := func(ctx context.Context) (api.Module, error) {
		config := wazero.NewModuleConfig().WithName("").WithStartFunctions(abi.ExportInitialize) // if there is one
		return rt.InstantiateModule(ctx, module, config)
	}
	if restore {
		start = restored(start)
	}
	return func(t testing.TB, op abi.Op, x *abitest.Exchange) uint32 {
		t.Helper()
		ctx := context.WithValue(ctx, exchangeKey{}, x)
		instance, err := start(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !restore {
			defer instance.Close(ctx)
		}
		results, err := instance.ExportedFunction(abi.ExportCall).Call(ctx, uint64(op), uint64(len(x.Request)))
		if err != nil {
			instance.Close(ctx)
			t.Fatalf("%s: %v", op, err)
		}
		if has := uint64(instance.Memory().Size()); x.Memory > 0 && has > x.Memory { // which never shrinks
			t.Errorf("%s: the memory has %d bytes, want at most %d", op, has, x.Memory)
		}
		return uint32(results[0])
	}
}

// restored returns the instance that start made before, with the memory and the globals that it had then: the tables of
// these guests do not change. It starts another one when the memory has grown or the instance is closed.
func restored(start func(context.Context) (api.Module, error)) func(context.Context) (api.Module, error) {
	var kept api.Module
	var image []byte
	var globals []uint64
	return func(ctx context.Context) (instance api.Module, err error) {
		if kept != nil && !kept.IsClosed() && int(kept.Memory().Size()) == len(image) {
			kept.Memory().Write(0, image)
			for i, value := range globals {
				if global, ok := kept.ExportedGlobal(globalName(i)).(api.MutableGlobal); ok {
					global.Set(value)
				}
			}
			return kept, nil
		}
		if kept != nil {
			kept.Close(ctx)
		}
		if kept, err = start(ctx); err != nil {
			kept = nil
			return nil, err
		}
		memory, _ := kept.Memory().Read(0, kept.Memory().Size())
		image, globals = bytes.Clone(memory), nil
		for global := kept.ExportedGlobal(globalName(0)); global != nil; global = kept.ExportedGlobal(globalName(len(globals))) {
			globals = append(globals, global.Get())
		}
		return kept, nil
	}
}

// globalName is the name under which exportGlobals exports a global.
func globalName(i int) string { return fmt.Sprint("global ", i) }

// exportGlobals returns a module that exports its globals as well. It imports none.
func exportGlobals(t *testing.T, module []byte) []byte {
	t.Helper()
	const globalSection, exportSection, aGlobal = 6, 7, 3
	out, globals := bytes.Clone(module[:8]), uint32(0)
	for s, err := range wasmformat.Sections(module) {
		if err != nil {
			t.Fatal(err)
		}
		r := s.Reader()
		switch s.ID {
		case globalSection:
			globals = r.U32()
		case exportSection:
			exports := r.U32()
			body := append(wasmformat.AppendU32(nil, exports+globals), r.Bytes(uint32(r.Len()))...)
			for i := range globals {
				body = wasmformat.AppendU32(append(wasmformat.AppendName(body, globalName(int(i))), aGlobal), i)
			}
			out = wasmformat.AppendSection(out, s.ID, body)
			continue
		}
		out = append(out, s.Raw...)
	}
	return out
}

type exchangeKey struct{}

func imports(rt wazero.Runtime) wazero.HostModuleBuilder {
	of := func(ctx context.Context) *abitest.Exchange { return ctx.Value(exchangeKey{}).(*abitest.Exchange) }
	view := func(m api.Module, ptr, n uint32) []byte {
		p, ok := m.Memory().Read(ptr, n)
		if !ok {
			panic("pointer out of range")
		}
		return p
	}
	b := rt.NewHostModuleBuilder(abi.ImportModule)
	b.NewFunctionBuilder().WithFunc(func(ctx context.Context, m api.Module, channel, dst, off, n uint32) uint32 {
		return of(ctx).Take(channel, view(m, dst, n), off)
	}).Export(abi.ImportTake)
	b.NewFunctionBuilder().WithFunc(func(ctx context.Context, m api.Module, ptr, n uint32) int32 {
		return int32(of(ctx).Emit(view(m, ptr, n)))
	}).Export(abi.ImportEmit)
	b.NewFunctionBuilder().WithFunc(func(ctx context.Context, m api.Module, ptr, n uint32) int32 {
		return int32(of(ctx).Body(view(m, ptr, n)))
	}).Export(abi.ImportBody)
	b.NewFunctionBuilder().WithFunc(func(ctx context.Context, m api.Module, service, ptr, n uint32) uint64 {
		return of(ctx).Call(service, view(m, ptr, n))
	}).Export(abi.ImportCall)
	b.NewFunctionBuilder().WithFunc(func(ctx context.Context, m api.Module, level, ptr, n uint32) {
		of(ctx).Log(level, view(m, ptr, n))
	}).Export(abi.ImportLog)
	b.NewFunctionBuilder().WithFunc(func(ctx context.Context, id uint32) uint64 {
		return of(ctx).Info(id)
	}).Export(abi.ImportInfo)
	return b
}
