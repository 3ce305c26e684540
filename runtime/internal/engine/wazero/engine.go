package wazero

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	goruntime "runtime"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/codedir"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// Version is the version of wazero that this package is written for and tested with.
const Version = "v1.12.0"

// Config is that of all engines, and Tests are.
type (
	Config = engine.Config
	Tests  = engine.Tests
)

// An Engine is wazero's compiler.
type Engine struct {
	own        loader
	precompile func(ctx context.Context, binary []byte) (dir string, err error)
}

// Open makes an Engine, and tests that wazero behaves as this package relies on. It logs what fails, and works without it.
func Open(cfg engine.Config) (*Engine, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cache, err := openCache(cfg.CacheDir)
	if err != nil {
		return nil, err
	}
	e := &Engine{own: newLoader(cache, cfg.CacheDir, cfg.Code), precompile: cfg.Precompile}
	if cfg.Tested != nil {
		e.own.resizes = cfg.Tested.Resizes
		return e, nil
	}
	e.own.resizes = Test(cfg.Logger).Resizes
	return e, nil
}

func openCache(dir string) (wazero.CompilationCache, error) {
	if dir == "" {
		return wazero.NewCompilationCache(), nil
	}
	if err := codedir.Check(dir); err != nil {
		return nil, err
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, fmt.Errorf("compilation cache %s: %w", dir, err)
	}
	return cache, nil
}

// Test runs the tests of Open, for [engine.Config.Tested]. It logs what fails.
func Test(logger *slog.Logger) engine.Tests {
	err := selfTest()
	if err != nil {
		logger.Warn("wazero cannot shrink the memory of instances: an instance that has grown is replaced, which is slower", "wazero", Version, "err", err)
	}
	return engine.Tests{Resizes: err == nil}
}

// Close releases the engine.
func (e *Engine) Close() error { return e.own.cache.Close(context.Background()) }

// Compile implements [engine.Engine]. If the native code is in the compilation cache, reading the code of the module is a
// waste: a third of the time, for a provider in Go. So [Precompile] stores native code under the name of the module without
// code, and Compile loads only that. binary may be the module without code.
func (e *Engine) Compile(ctx context.Context, binary []byte, host []engine.HostFunc) (engine.Module, error) {
	if e.precompile == nil {
		return e.own.open(ctx, binary, host)
	}
	dir, err := e.precompile(ctx, binary)
	if err != nil {
		return nil, err
	}
	stripped, err := wasm.StripCode(binary)
	if err != nil {
		return nil, abi.Errorf(abi.CodeModule, "not a WebAssembly module this engine accepts").Because(err)
	}
	cache, err := openCache(dir)
	if err != nil {
		return nil, err
	}
	own := newLoader(cache, dir, nil)
	own.resizes = e.own.resizes
	m, err := own.open(ctx, stripped, host)
	if err != nil {
		return nil, errors.Join(err, cache.Close(context.WithoutCancel(ctx)))
	}
	m.cache = cache
	return m, nil
}

// runtimeConfig has the settings of all runtimes: native code depends on them.
func runtimeConfig() wazero.RuntimeConfig {
	return wazero.NewRuntimeConfigCompiler().
		WithCoreFeatures(api.CoreFeaturesV2).
		WithDebugInfoEnabled(false).  // hostile debug sections can hang the stack trace of a trap
		WithCloseOnContextDone(false) // metering stops guests
}

// A loader compiles modules by a cache of native code.
type loader struct {
	cache   wazero.CompilationCache
	dir     string     // of cache; empty when the cache is in memory
	codes   *codeCache // of cache; nil when there is none
	err     error      // why there is none
	resizes bool       // as of the engine
}

// newLoader makes a loader that maps the native code of its only module from a file; nil copies that of all modules.
func newLoader(cache wazero.CompilationCache, dir string, code *os.File) loader {
	l := loader{cache: cache, dir: dir, resizes: true, err: errInMemory}
	if dir != "" {
		l.codes, l.err = newCodeCache(cache, code)
	}
	return l
}

// open compiles a module, or loads one without code.
func (l loader) open(ctx context.Context, binary []byte, host []engine.HostFunc) (*module, error) {
	if l.dir == "" || !wasm.HasNoCode(binary) {
		return l.compile(ctx, binary, host)
	}
	before, err := codedir.List(l.dir)
	if err != nil {
		return nil, err
	}
	m, err := l.compile(ctx, binary, host)
	if err != nil {
		return nil, err
	}
	if err := l.check(before); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// check fails if wazero has compiled something: a module without code only traps.
func (l loader) check(before []string) error {
	now, err := codedir.List(l.dir)
	if err != nil {
		return err
	}
	for _, file := range now {
		if !slices.Contains(before, file) {
			return errors.Join(abi.Errorf(abi.CodeModule, "the compiled module is missing from the cache"), os.Remove(file))
		}
	}
	return nil
}

// stopped returns the error of a compilation that the end of ctx has stopped. It says nothing of the module.
func stopped(ctx context.Context) error {
	return fmt.Errorf("compile module: %w", context.Cause(ctx))
}

// compile makes a module with its own runtime.
func (l loader) compile(ctx context.Context, binary []byte, host []engine.HostFunc) (_ *module, err error) {
	if ctx.Err() != nil {
		return nil, stopped(ctx)
	}
	rt := wazero.NewRuntimeWithConfig(ctx, runtimeConfig().WithCompilationCache(l.cache))
	defer func() {
		if err != nil {
			err = errors.Join(err, rt.Close(context.WithoutCancel(ctx)))
		}
	}()
	compiled, err := rt.CompileModule(experimental.WithCompilationWorkers(ctx, goruntime.GOMAXPROCS(0)), binary)
	if err != nil && ctx.Err() != nil {
		return nil, stopped(ctx)
	}
	if err != nil {
		return nil, abi.Errorf(abi.CodeModule, "not a WebAssembly module this engine accepts").Because(err)
	}
	if err := link(ctx, rt, binary, host); err != nil {
		return nil, err
	}
	m := &module{rt: rt, compiled: compiled, resizes: l.resizes, copied: l.err}
	if l.codes != nil {
		m.code, m.copied = l.codes.take()
	}
	return m, nil
}
