package wazero

import (
	"context"
	"errors"
	"fmt"
	"os"
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
}

// An Engine is wazero's compiler.
type Engine struct {
	cache wazero.CompilationCache
}

// Open makes an Engine.
func Open(cfg Config) (*Engine, error) {
	if cfg.CacheDir == "" {
		return &Engine{cache: wazero.NewCompilationCache()}, nil
	}
	if err := os.MkdirAll(cfg.CacheDir, 0o700); err != nil {
		return nil, fmt.Errorf("compilation cache: %w", err)
	}
	if err := checkPrivate(cfg.CacheDir); err != nil {
		return nil, fmt.Errorf("compilation cache: %w", err)
	}
	cache, err := wazero.NewCompilationCacheWithDir(cfg.CacheDir)
	if err != nil {
		return nil, fmt.Errorf("compilation cache %s: %w", cfg.CacheDir, err)
	}
	return &Engine{cache: cache}, nil
}

// Close releases the engine.
func (e *Engine) Close() error { return e.cache.Close(context.Background()) }

// Compile implements [engine.Engine].
func (e *Engine) Compile(ctx context.Context, wasm []byte, host []engine.HostFunc, memoryPages uint32) (engine.Module, error) {
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler().
		WithCompilationCache(e.cache).
		WithCoreFeatures(api.CoreFeaturesV2).
		WithDebugInfoEnabled(false). // hostile debug sections can hang the stack trace of a trap
		WithCloseOnContextDone(true))
	m, err := compile(ctx, rt, wasm, host, memoryPages)
	if err != nil {
		return nil, errors.Join(err, rt.Close(context.WithoutCancel(ctx)))
	}
	return m, nil
}

func compile(ctx context.Context, rt wazero.Runtime, wasm []byte, host []engine.HostFunc, memoryPages uint32) (*module, error) {
	compiled, err := rt.CompileModule(experimental.WithCompilationWorkers(ctx, goruntime.GOMAXPROCS(0)), wasm)
	if err != nil {
		return nil, abi.Errorf(abi.CodeModule, "not a WebAssembly module this engine accepts").Because(err)
	}
	if err := checkMemory(compiled, memoryPages); err != nil {
		return nil, err
	}
	if err := link(ctx, rt, compiled, host); err != nil {
		return nil, err
	}
	return &module{rt: rt, compiled: compiled, memoryPages: memoryPages}, nil
}

func checkMemory(compiled wazero.CompiledModule, limit uint32) error {
	if len(compiled.ImportedMemories()) > 0 {
		return abi.Errorf(abi.CodeIncompatible, "the module imports a memory; it must define and export its own")
	}
	for _, m := range compiled.ExportedMemories() {
		if m.Min() > limit {
			return abi.Errorf(abi.CodeMemory, "the module starts with %d pages of memory, the limit is %d (of 64 KiB)", m.Min(), limit).
				Because(engine.ErrMemory)
		}
	}
	return nil
}
