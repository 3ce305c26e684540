package peers_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/peers/answer"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/limits"
)

// What is the same for all that have such a setting.
const (
	memoryPages = limits.DefaultMemory >> 16
	timeout     = limits.DefaultTimeout
)

// An asked host gives the answer to a request, which is good until the next.
type asked func(uri []byte) ([]byte, error)

// A host is a way to have requests answered.
type host struct {
	name  string
	clean bool // nothing of a request is left when the next one comes
	// open makes the guest ready to be asked; what it needs is released when the test ends.
	open func(tb testing.TB, g guest) asked
	// decode makes the text of an answer; nil when it is the text.
	decode func(tb testing.TB, answer []byte) []byte
}

// The first one is what others are compared to.
var hosts = []host{
	{name: "wasmres-clean", clean: true, open: openWasmres},
	{name: "extism-clean-timeout", clean: true, open: extismClean(timeout)},
	{name: "extism-clean", clean: true, open: extismClean(0)},
	{name: "extism-warm-timeout", open: extismWarm(timeout)},
	{name: "extism-warm", open: extismWarm(0)},
	{name: "wazero-clean-timeout", clean: true, open: wazeroClean(timeout), decode: textOf},
	{name: "wazero-clean", clean: true, open: wazeroClean(0), decode: textOf},
	{name: "wazero-warm-timeout", open: wazeroWarm(timeout), decode: textOf},
	{name: "wazero-warm", open: wazeroWarm(0), decode: textOf},
	{name: "native", open: openNative},
}

// openNative is the guest's logic without a guest.
func openNative(_ testing.TB, g guest) asked {
	answer.Prepare(g.kib)
	var out []byte
	return func(uri []byte) ([]byte, error) {
		out = append(out[:0], answer.To(uri)...)
		return out, nil
	}
}

// A buffer is a sink that keeps the text.
type buffer struct{ bytes []byte }

func (b *buffer) Content(*abi.Content) error { return nil }
func (b *buffer) Progress(abi.Progress)      {}
func (b *buffer) Body(p []byte) error {
	b.bytes = append(b.bytes, p...)
	return nil
}

// load gives the guest in wasmres, with the limits every provider has.
func load(tb testing.TB, g guest) *runtime.Provider {
	tb.Helper()
	h, err := runtime.NewHost(runtime.HostConfig{Isolation: runtime.IsolateNone, CacheDir: guesttest.CacheDir(tb)})
	check(tb, err)
	tb.Cleanup(func() { check(tb, h.Close()) })
	p, err := h.Load(tb.Context(), g.binary(tb, wasmresV1), nil)
	check(tb, err)
	tb.Cleanup(func() { check(tb, p.Close()) })
	return p
}

// openWasmres answers a request and resets the instance.
func openWasmres(tb testing.TB, g guest) asked {
	p := load(tb, g)
	var sink buffer
	return func(uri []byte) ([]byte, error) {
		sink.bytes = sink.bytes[:0]
		err := p.Stream(tb.Context(), string(uri), &sink)
		return sink.bytes, err
	}
}

// compiledExtism is the guest as an Extism plugin: with a timeout if it is not 0, and with a clock that runs, since
// Go's garbage collector goes astray with the one that is the default.
func compiledExtism(tb testing.TB, g guest, timeout time.Duration) (*extism.CompiledPlugin, extism.PluginInstanceConfig) {
	tb.Helper()
	manifest := extism.Manifest{
		Wasm:    []extism.Wasm{extism.WasmData{Data: g.binary(tb, extismPDK)}},
		Timeout: uint64(timeout.Milliseconds()),
		Memory:  &extism.ManifestMemory{MaxPages: memoryPages, MaxHttpResponseBytes: -1, MaxVarBytes: -1}, // -1 is the default
	}
	cfg := extism.PluginConfig{RuntimeConfig: runtimeConfig(tb), EnableWasi: true}
	plugin, err := extism.NewCompiledPlugin(tb.Context(), manifest, cfg, nil)
	check(tb, err)
	tb.Cleanup(func() { check(tb, plugin.Close(context.Background())) })
	return plugin, extism.PluginInstanceConfig{ModuleConfig: moduleConfig()}
}

func extismWarm(timeout time.Duration) func(testing.TB, guest) asked {
	return func(tb testing.TB, g guest) asked {
		compiled, cfg := compiledExtism(tb, g, timeout)
		plugin, err := compiled.Instance(tb.Context(), cfg)
		check(tb, err)
		tb.Cleanup(func() { check(tb, plugin.Close(context.Background())) })
		return func(uri []byte) ([]byte, error) { return callExtism(plugin, uri) }
	}
}

func extismClean(timeout time.Duration) func(testing.TB, guest) asked {
	return func(tb testing.TB, g guest) asked {
		compiled, cfg := compiledExtism(tb, g, timeout)
		return func(uri []byte) ([]byte, error) {
			plugin, err := compiled.Instance(tb.Context(), cfg)
			if err != nil {
				return nil, err
			}
			out, err := callExtism(plugin, uri)
			if err != nil {
				return nil, err
			}
			return out, plugin.Close(tb.Context())
		}
	}
}

func callExtism(plugin *extism.Plugin, uri []byte) ([]byte, error) {
	code, out, err := plugin.Call("read", uri)
	if err == nil && code != 0 {
		err = fmt.Errorf("the guest answered %d", code)
	}
	return out, err
}

// A naive host is wazero as its examples use it, with the two host functions that the guest needs.
type naive struct {
	rt       wazero.Runtime
	compiled wazero.CompiledModule
	timeout  time.Duration

	request, frame []byte
}

// compiledWazero is the guest in wazero: with its own way to stop a guest if timeout is not 0.
func compiledWazero(tb testing.TB, g guest, timeout time.Duration) *naive {
	tb.Helper()
	ctx := tb.Context()
	cfg := runtimeConfig(tb).WithMemoryLimitPages(memoryPages).WithCloseOnContextDone(timeout > 0)
	n := &naive{rt: wazero.NewRuntimeWithConfig(ctx, cfg), timeout: timeout}
	tb.Cleanup(func() { check(tb, n.rt.Close(context.Background())) })
	wasi_snapshot_preview1.MustInstantiate(ctx, n.rt)
	i32 := api.ValueTypeI32
	_, err := n.rt.NewHostModuleBuilder(abi.ImportModule).
		NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(n.take), []api.ValueType{i32, i32, i32, i32}, []api.ValueType{i32}).Export(abi.ImportTake).
		NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(n.emit), []api.ValueType{i32, i32}, []api.ValueType{i32}).Export(abi.ImportEmit).
		Instantiate(ctx)
	check(tb, err)
	n.compiled, err = n.rt.CompileModule(ctx, g.binary(tb, wasmresV1))
	check(tb, err)
	return n
}

func (n *naive) take(_ context.Context, mod api.Module, stack []uint64) {
	if !mod.Memory().Write(uint32(stack[1]), n.request) {
		panic("out of range")
	}
	stack[0] = uint64(len(n.request))
}

func (n *naive) emit(_ context.Context, mod api.Module, stack []uint64) {
	p, ok := mod.Memory().Read(uint32(stack[0]), uint32(stack[1]))
	if !ok {
		panic("out of range")
	}
	n.frame = append(n.frame[:0], p...)
	stack[0] = 0
}

func (n *naive) instantiate(ctx context.Context) (api.Module, error) {
	return n.rt.InstantiateModule(ctx, n.compiled, moduleConfig().WithName("").WithStartFunctions(abi.ExportInitialize))
}

// call makes a guest answer. The answer is the frame.
func (n *naive) call(ctx context.Context, f api.Function, uri []byte) ([]byte, error) {
	req := abi.Request{URI: string(uri)}
	n.request = req.Append(n.request[:0])
	stack := [2]uint64{uint64(abi.OpRead), uint64(len(n.request))}
	if err := f.CallWithStack(ctx, stack[:]); err != nil {
		return nil, err
	}
	if code := uint32(stack[0]); code != 0 {
		return nil, fmt.Errorf("the guest answered %d", code)
	}
	return n.frame, nil
}

// bound gives the context of one request.
func (n *naive) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if n.timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, n.timeout)
}

func wazeroWarm(timeout time.Duration) func(testing.TB, guest) asked {
	return func(tb testing.TB, g guest) asked {
		n := compiledWazero(tb, g, timeout)
		mod, err := n.instantiate(tb.Context())
		check(tb, err)
		f := mod.ExportedFunction(abi.ExportCall)
		return func(uri []byte) ([]byte, error) {
			ctx, cancel := n.bound(tb.Context())
			defer cancel()
			return n.call(ctx, f, uri)
		}
	}
}

func wazeroClean(timeout time.Duration) func(testing.TB, guest) asked {
	return func(tb testing.TB, g guest) asked {
		n := compiledWazero(tb, g, timeout)
		return func(uri []byte) ([]byte, error) {
			ctx, cancel := n.bound(tb.Context())
			defer cancel()
			mod, err := n.instantiate(ctx)
			if err != nil {
				return nil, err
			}
			out, err := n.call(ctx, mod.ExportedFunction(abi.ExportCall), uri)
			if err != nil {
				return nil, err
			}
			return out, mod.Close(ctx)
		}
	}
}

// textOf takes the text out of a frame.
func textOf(tb testing.TB, frame []byte) []byte {
	tb.Helper()
	var text buffer
	check(tb, new(abi.Reply).Merge(frame, 0, inline{&text}))
	return text.bytes
}

type inline struct{ *buffer }

func (i inline) Content(c *abi.Content) error { return i.Body(c.Inline) }
func (inline) Continue() error                { return nil }

// runtimeConfig is wazero's default, with the compiled modules kept between runs: that spares the tests a minute, and
// nothing that is measured.
func runtimeConfig(tb testing.TB) wazero.RuntimeConfig {
	tb.Helper()
	base, err := os.UserCacheDir()
	if err != nil {
		base = tb.TempDir()
	}
	cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(base, "wasmres-tests", "peers"))
	check(tb, err)
	tb.Cleanup(func() { check(tb, cache.Close(context.Background())) })
	return wazero.NewRuntimeConfig().WithCompilationCache(cache)
}

func moduleConfig() wazero.ModuleConfig {
	return wazero.NewModuleConfig().WithSysNanotime().WithSysWalltime().WithSysNanosleep()
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
