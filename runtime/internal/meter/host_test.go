package meter_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/meter"
)

// testPages is the most pages any memory may grow to in tests.
const testPages = 1100

// generous is what most tests grant.
var generous = meter.Config{MemoryPages: testPages, TableEntries: 1 << 31}

// errStopped is what tick panics with when a test has had enough.
var errStopped = errors.New("stopped by tick")

// A host runs original and metered modules in one engine.
type host struct {
	runtime wazero.Runtime
}

func newHost(tb testing.TB) *host {
	tb.Helper()
	return hostOf(tb, wazero.NewRuntimeConfigCompiler())
}

// newCachedHost returns a host for a large module, whose native code test processes share.
func newCachedHost(tb testing.TB) *host {
	tb.Helper()
	cache, err := wazero.NewCompilationCacheWithDir(guesttest.CacheDir(tb))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { cache.Close(context.Background()) })
	return hostOf(tb, wazero.NewRuntimeConfigCompiler().WithCompilationCache(cache))
}

func hostOf(tb testing.TB, config wazero.RuntimeConfig) *host {
	tb.Helper()
	ctx := context.Background()
	h := &host{wazero.NewRuntimeWithConfig(ctx, config.WithDebugInfoEnabled(false))}
	tb.Cleanup(func() { h.runtime.Close(ctx) })
	tick := func(ctx context.Context, _ api.Module, _ []uint64) { ctx.Value(guestKey{}).(*guest).tick() }
	h.link(tb, meter.ImportModule, map[string]string{meter.ImportTick: ""}, tick)
	ignore := func(context.Context, api.Module, []uint64) {}
	h.link(tb, "spectest", map[string]string{
		"print": "", "print_i32": "i", "print_i64": "l", "print_f32": "f", "print_f64": "d", "print_i32_f32": "if", "print_f64_f64": "dd",
	}, ignore)
	h.link(tb, "fuzzing-support", map[string]string{"log-i32": "i", "log-i64": "l", "log-f32": "f", "log-f64": "d", "log-v128": "v"}, ignore)
	h.link(tb, "test", map[string]string{"nothing": ""}, ignore)
	return h
}

// link offers functions without results.
func (h *host) link(tb testing.TB, module string, params map[string]string, f api.GoModuleFunc) {
	tb.Helper()
	types := map[rune]api.ValueType{
		'i': api.ValueTypeI32, 'l': api.ValueTypeI64, 'f': api.ValueTypeF32, 'd': api.ValueTypeF64, 'v': 0x7b,
	}
	builder := h.runtime.NewHostModuleBuilder(module)
	for name, list := range params {
		var in []api.ValueType
		for _, letter := range list {
			in = append(in, types[letter])
		}
		builder.NewFunctionBuilder().WithGoModuleFunction(f, in, nil).Export(name)
	}
	if _, err := builder.Instantiate(context.Background()); err != nil {
		tb.Fatal(err)
	}
}

// A guest is an instance of a module, metered or not.
type guest struct {
	module   api.Module
	code     *meter.Module // nil if it is not metered
	compiled wazero.CompiledModule
	fuel     api.MutableGlobal
	depth    api.MutableGlobal
	dirty    api.MutableGlobal

	slice   int64       // fuel a tick adds, besides what is overdrawn
	stack   int32       // bytes armed
	granted int64       // fuel armed and added
	ticks   int         // since it was armed
	onTick  func() bool // whether to go on; nil always does
}

type guestKey struct{}

// original instantiates a module as it is.
func (h *host) original(binary []byte) (*guest, error) {
	g := &guest{}
	return g, g.instantiate(h, binary, testPages)
}

// metered rewrites and instantiates a module and does with it what the host has to.
func (h *host) metered(binary []byte, cfg meter.Config) (*guest, error) {
	code, err := meter.Rewrite(binary, cfg)
	if err != nil {
		return nil, err
	}
	g := &guest{code: code, slice: 1_000_000, stack: 1 << 20}
	if err := g.instantiate(h, code.Binary, code.MaxPages); err != nil {
		return g, err
	}
	g.fuel, g.depth, g.dirty = g.global(meter.ExportFuel), g.global(meter.ExportDepth), g.global(meter.ExportDirty)
	for i, s := range code.Data {
		if !g.module.Memory().Write(s.Offset, s.Bytes) {
			return g, fmt.Errorf("data segment %d: out of bounds memory access", i)
		}
	}
	if code.Start {
		_, err = g.call(meter.ExportStart)
	}
	return g, err
}

func (g *guest) instantiate(h *host, binary []byte, pages uint32) (err error) {
	ctx := experimental.WithMemoryAllocator(context.Background(), allocator(pages))
	if g.compiled, err = h.runtime.CompileModule(ctx, binary); err != nil {
		return err
	}
	g.module, err = h.runtime.InstantiateModule(ctx, g.compiled, wazero.NewModuleConfig().WithSysWalltime().WithSysNanotime().WithName("").WithStartFunctions())
	return err
}

func (g *guest) close() {
	if g.module != nil {
		g.module.Close(context.Background())
	}
	if g.compiled != nil {
		g.compiled.Close(context.Background())
	}
}

func (g *guest) global(name string) api.MutableGlobal {
	return g.module.ExportedGlobal(name).(api.MutableGlobal)
}

// arm returns the guest its first slice and its stack.
func (g *guest) arm() {
	g.fuel.Set(uint64(g.slice))
	g.depth.Set(uint64(uint32(g.stack)))
	g.dirty.Set(0)
	g.granted, g.ticks = g.slice, 0
}

// used is the fuel used since the guest was armed.
func (g *guest) used() int64 { return g.granted - int64(g.fuel.Get()) }

func (g *guest) tick() {
	g.ticks++
	left := int64(g.fuel.Get())
	if left >= 0 {
		panic("tick with fuel left")
	}
	if g.onTick != nil && !g.onTick() {
		panic(errStopped)
	}
	g.granted += g.slice - left
	g.fuel.Set(uint64(g.slice))
}

func (g *guest) call(name string, args ...uint64) ([]uint64, error) {
	ctx := context.WithValue(context.Background(), guestKey{}, g)
	if g.code != nil {
		g.arm()
	}
	return g.module.ExportedFunction(name).Call(ctx, args...)
}

// digest sums up the state of an instance: its memory and its first globals.
func (g *guest) digest(globals int) uint64 {
	sum := fnv.New64a()
	if memory := g.module.Memory(); !reflect.ValueOf(memory).IsNil() { // wazero gives an interface that has a nil
		bytes, _ := memory.Read(0, memory.Size())
		fmt.Fprint(sum, len(bytes))
		sum.Write(bytes)
	}
	internal := g.module.(experimental.InternalModule)
	for i := range globals {
		if global := internal.Global(i); global.Type() != api.ValueTypeExternref && global.Type() != 0x70 {
			fmt.Fprint(sum, global.Type(), global.Get())
		}
	}
	return sum.Sum64()
}

// globals counts the globals of a guest that is not metered.
func (g *guest) globals() int { return g.module.(experimental.InternalModule).NumGlobal() }

// kind is what an error says about the end of a call, without where it was.
func kind(err error) string {
	if err == nil {
		return ""
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	if i := strings.Index(first, "wasm error: "); i >= 0 {
		return first[i:]
	}
	return first
}

// allocator refuses memories of more pages.
type allocator uint32

func (a allocator) Allocate(capacity, _ uint64) experimental.LinearMemory {
	return &linear{limit: uint64(a) << 16, bytes: make([]byte, 0, min(capacity, 1<<24))}
}

type linear struct {
	limit uint64
	bytes []byte
}

func (l *linear) Reallocate(size uint64) []byte {
	if size > l.limit {
		return nil
	}
	l.bytes = append(l.bytes, make([]byte, size-uint64(len(l.bytes)))...)
	return l.bytes
}

func (l *linear) Free() {}
