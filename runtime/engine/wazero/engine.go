package wazero

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	goruntime "runtime"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/engine"
)

// Version is the version of wazero this package is written for and tested with.
const Version = "v1.12.0"

// Config configures an Engine.
type Config struct {
	// CacheDir keeps compiled modules between runs. It must belong to this user and nobody else may write to it, since
	// what is read back is run as native code: Open checks. It is created with mode 0700. Empty keeps them in memory.
	CacheDir string
	// Precompile, if not nil, is called before a module is compiled. It is to put the compiled module into CacheDir
	// from a process that can be stopped, which a compilation in this one cannot. Its error ends the compilation.
	Precompile func(ctx context.Context, wasm []byte) error
	Logger     *slog.Logger // nil discards
}

// An Engine is wazero's compiler.
type Engine struct {
	cache      wazero.CompilationCache
	precompile func(ctx context.Context, wasm []byte) error
	resizes    bool // instances can give memory back
}

// Open makes an Engine, and makes sure that wazero does what this package relies on. What it does not do is said in
// the log, and done without.
func Open(cfg Config) (*Engine, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cache, err := openCache(cfg.CacheDir)
	if err != nil {
		return nil, err
	}
	e := &Engine{cache: cache, precompile: cfg.Precompile, resizes: true}
	if err := selfTest(e); err != nil {
		e.resizes = false
		cfg.Logger.Warn("memory of instances cannot shrink: each one that grows is replaced, which is slower", "wazero", Version, "err", err)
	}
	return e, nil
}

func openCache(dir string) (wazero.CompilationCache, error) {
	if dir == "" {
		return wazero.NewCompilationCache(), nil
	}
	if err := CheckCacheDir(dir); err != nil {
		return nil, err
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, fmt.Errorf("compilation cache %s: %w", dir, err)
	}
	return cache, nil
}

// Close releases the engine.
func (e *Engine) Close() error { return e.cache.Close(context.Background()) }

// Compile implements [engine.Engine].
func (e *Engine) Compile(ctx context.Context, wasm []byte, host []engine.HostFunc) (engine.Module, error) {
	if e.precompile != nil {
		if err := e.precompile(ctx, wasm); err != nil {
			return nil, err
		}
	}
	return e.compile(ctx, wasm, host)
}

func (e *Engine) compile(ctx context.Context, wasm []byte, host []engine.HostFunc) (engine.Module, error) {
	rt := wazero.NewRuntimeWithConfig(ctx, runtimeConfig().WithCompilationCache(e.cache))
	m, err := compile(ctx, rt, wasm, host)
	if err != nil {
		return nil, errors.Join(err, rt.Close(context.WithoutCancel(ctx)))
	}
	m.resizes = e.resizes
	return m, nil
}

// runtimeConfig is the one set of settings: the compiled form of a module depends on it.
func runtimeConfig() wazero.RuntimeConfig {
	return wazero.NewRuntimeConfigCompiler().
		WithCoreFeatures(api.CoreFeaturesV2).
		WithDebugInfoEnabled(false).  // hostile debug sections can hang the stack trace of a trap
		WithCloseOnContextDone(false) // what stops a guest is metered into it
}

func compile(ctx context.Context, rt wazero.Runtime, wasm []byte, host []engine.HostFunc) (*module, error) {
	compiled, err := rt.CompileModule(experimental.WithCompilationWorkers(ctx, goruntime.GOMAXPROCS(0)), wasm)
	if err != nil {
		return nil, abi.Errorf(abi.CodeModule, "not a WebAssembly module this engine accepts").Because(err)
	}
	if err := link(ctx, rt, compiled, host); err != nil {
		return nil, err
	}
	return &module{rt: rt, compiled: compiled}, nil
}
