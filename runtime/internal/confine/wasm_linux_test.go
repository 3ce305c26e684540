package confine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	wasm "github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/confine"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
	"github.com/wasmres/wasmres/runtime/internal/snapshot"
)

// guests are modules that a child compiles before it is sealed and runs afterwards.
type guests struct {
	Probe []byte // see package wazero: exports grow, size and touch
	Go    []byte // an example provider
}

// childWasm does with the guests what a worker does.
func childWasm(args []string) error {
	var g guests
	if err := json.NewDecoder(os.Stdin).Decode(&g); err != nil {
		return err
	}
	snapshot.Probe()
	layers, err := confine.Enter(confine.Profile{Memory: 4 << 30, FileSize: 64 << 20, Write: args})
	if err != nil {
		return err
	}
	e, err := wazero.Open(wazero.Config{CacheDir: args[0]})
	if err != nil {
		return err
	}
	probe, err := e.Compile(context.Background(), g.Probe, nil)
	if err != nil {
		return err
	}
	image, err := snapshot.New(make([]byte, 64<<10), snapshot.Config{Limit: 192 << 10})
	if err != nil {
		return err
	}
	big, err := compileGo(g.Go)
	if err != nil {
		return err
	}
	if layers, err = confine.Seal(layers); err != nil {
		return err
	}
	return errors.Join(runProbe(probe, image), big(), tell(layers))
}

// compileGo compiles a module made by Go, with imports that do nothing, and gives what runs its initialisation.
func compileGo(module []byte) (run func() error, err error) {
	ctx := context.Background()
	rt := wasm.NewRuntime(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, rt)
	compiled, err := rt.CompileModule(ctx, module)
	if err != nil {
		return nil, err
	}
	builder := rt.NewHostModuleBuilder("wasmres_v1")
	for _, f := range compiled.ImportedFunctions() {
		if from, name, _ := f.Import(); from == "wasmres_v1" {
			nothing := api.GoFunc(func(context.Context, []uint64) {})
			builder.NewFunctionBuilder().WithGoFunction(nothing, f.ParamTypes(), f.ResultTypes()).Export(name)
		}
	}
	if _, err := builder.Instantiate(ctx); err != nil {
		return nil, err
	}
	return func() error {
		config := wasm.NewModuleConfig().WithName("").WithStartFunctions("_initialize")
		m, err := rt.InstantiateModule(ctx, compiled, config)
		if err != nil {
			return err
		}
		return errors.Join(m.Close(ctx), rt.Close(ctx))
	}, nil
}

// runProbe has instances one after the other grow, write and be reset.
func runProbe(m engine.Module, image *snapshot.Image) error {
	ctx := context.Background()
	for range 3 {
		memory, err := image.Memory()
		if err != nil {
			return err
		}
		instance, err := m.Instantiate(ctx, nil, memory)
		if err != nil {
			return err
		}
		for _, export := range []string{"grow", "touch", "size"} {
			if err := instance.Call(ctx, export, []uint64{1}); err != nil {
				return fmt.Errorf("%s: %w", export, err)
			}
		}
		if err := errors.Join(memory.Reset(instance.Resize), instance.Close(), memory.Release()); err != nil {
			return err
		}
	}
	return errors.Join(m.Close(), image.Close())
}

func newCache(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	if err := wazero.MakeCacheDir(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func newGuests(t *testing.T) (g guests) {
	t.Helper()
	for file, module := range map[string]*[]byte{
		"../engine/wazero/probe.wasm": &g.Probe,
		guesttest.File(t, "hello"):    &g.Go,
	} {
		var err error
		if *module, err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func TestGuestsRunInASealedProcess(t *testing.T) {
	inNamespaces(t, func(t *testing.T, flags uintptr) {
		var layers confine.Layers
		child{args: []string{"wasm", newCache(t)}, stdin: encoded(t, newGuests(t)), flags: flags}.run(t, &layers)
		for _, want := range confine.Probe() {
			if layers.On(want.Name) != want.On {
				t.Errorf("got %v, want what the machine gives, %v", layers, confine.Probe())
			}
		}
		if layers.On(confine.Landlock) && !strings.Contains(layers.String(), "no files") {
			t.Errorf("got %v, want no files", layers)
		}
	})
}
