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
	"github.com/wasmres/wasmres/runtime/wasm"
)

// Version is the version of wazero this package is written for and tested with.
const Version = "v1.12.0"

// Config configures an Engine.
type Config struct {
	// CacheDir keeps compiled modules between runs. It must belong to this user, and no other user may write to it, since
	// what is read back is run as native code: Open checks. It is created with mode 0700. Empty keeps them in memory.
	CacheDir string
	// Precompile, if not nil, is called before a module is compiled, and gives the folder that takes the place of CacheDir
	// for this module: with what [Precompile] has left, in a process that can be stopped, which a compilation in this one
	// cannot. Its error ends the compilation.
	Precompile func(ctx context.Context, binary []byte) (dir string, err error)
	// Tested says that another process of this program has opened an engine, and what came of its tests: the same is
	// taken for granted here. Nil tests.
	Tested *Tests
	Logger *slog.Logger // nil discards
}

// Tests are what became of the tests an engine makes of wazero when it is opened.
type Tests struct {
	Resizes bool `json:"resizes"` // instances can give memory back
}

// An Engine is wazero's compiler.
type Engine struct {
	own        loader
	precompile func(ctx context.Context, binary []byte) (dir string, err error)
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
	e := &Engine{own: loader{cache: cache, dir: cfg.CacheDir, resizes: true}, precompile: cfg.Precompile}
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
	if err := CheckCacheDir(dir); err != nil {
		return nil, err
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, fmt.Errorf("compilation cache %s: %w", dir, err)
	}
	return cache, nil
}

// Test makes the tests that an engine makes when it is opened, for [Config.Tested]. What fails is said in the log.
func Test(logger *slog.Logger) Tests {
	err := selfTest()
	if err != nil {
		logger.Warn("memory of instances cannot shrink: each one that grows is replaced, which is slower", "wazero", Version, "err", err)
	}
	return Tests{Resizes: err == nil}
}

// Close releases the engine.
func (e *Engine) Close() error { return e.own.cache.Close(context.Background()) }

// Compile implements [engine.Engine]. Where native code is in the compilation cache already, all that is read of the
// module but its shape is a waste: a third of the time with it, for a provider in Go. So [Precompile] keeps code under the
// name that the module without code has, which is then all that is loaded. Compile may be given the module without code itself.
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
	m, err := loader{cache, dir, e.own.resizes}.open(ctx, stripped, host)
	if err != nil {
		return nil, errors.Join(err, cache.Close(context.WithoutCancel(ctx)))
	}
	m.cache = cache
	return m, nil
}

// runtimeConfig is the one set of settings: the compiled form of a module depends on it.
func runtimeConfig() wazero.RuntimeConfig {
	return wazero.NewRuntimeConfigCompiler().
		WithCoreFeatures(api.CoreFeaturesV2).
		WithDebugInfoEnabled(false).  // hostile debug sections can hang the stack trace of a trap
		WithCloseOnContextDone(false) // what stops a guest is metered into it
}

// A loader is where a module's native code comes from or goes to.
type loader struct {
	cache   wazero.CompilationCache
	dir     string // of cache; empty when that is in memory
	resizes bool   // as of the engine
}

// open compiles a module, or loads one without code.
func (l loader) open(ctx context.Context, binary []byte, host []engine.HostFunc) (*module, error) {
	if l.dir == "" || !wasm.HasNoCode(binary) {
		return l.compile(ctx, binary, host)
	}
	before, err := entries(l.dir)
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

// check makes sure that nothing was compiled: stripped code only traps.
func (l loader) check(before []string) error {
	now, err := entries(l.dir)
	if err != nil {
		return err
	}
	for _, file := range now {
		if !slices.Contains(before, file) {
			return errors.Join(abi.Errorf(abi.CodeModule, "the compiled module is gone"), os.Remove(file))
		}
	}
	return nil
}

// compile makes a module of a runtime of its own.
func (l loader) compile(ctx context.Context, binary []byte, host []engine.HostFunc) (_ *module, err error) {
	rt := wazero.NewRuntimeWithConfig(ctx, runtimeConfig().WithCompilationCache(l.cache))
	defer func() {
		if err != nil {
			err = errors.Join(err, rt.Close(context.WithoutCancel(ctx)))
		}
	}()
	compiled, err := rt.CompileModule(experimental.WithCompilationWorkers(ctx, goruntime.GOMAXPROCS(0)), binary)
	if err != nil {
		return nil, abi.Errorf(abi.CodeModule, "not a WebAssembly module this engine accepts").Because(err)
	}
	if err := link(ctx, rt, compiled, host); err != nil {
		return nil, err
	}
	return &module{rt: rt, compiled: compiled, resizes: l.resizes}, nil
}
