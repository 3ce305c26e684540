package runtime

import (
	"context"
	"errors"

	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/engines"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/internal/worker"
)

// A native compiles modules with one engine, and runs them.
type native struct {
	runner  guest.Runner
	compile compileFunc // nil when modules are compiled in this process
}

// engineOf returns the engine with a name, or that of the Host for none, and makes what runs its modules at its first use.
func (h *Host) engineOf(name string) (*native, error) {
	kind := h.kind
	if name != "" {
		var err error
		if kind, err = engines.Parse(name); err != nil {
			return nil, err
		}
	}
	h.nativesMu.Lock()
	defer h.nativesMu.Unlock()
	if n := h.natives[kind]; n != nil {
		return n, nil
	}
	n, err := h.newNative(kind)
	if err != nil {
		return nil, err
	}
	h.natives[kind] = n
	return n, nil
}

// newNative makes what runs the modules of an engine other than that of the Host.
func (h *Host) newNative(kind engines.Kind) (*native, error) {
	if h.compiler == nil {
		return h.openEngine(kind, engine.Config{CacheDir: h.cacheDir, Logger: h.log}, nil)
	}
	kind = h.variant(kind)
	c := h.compiler.With(kind)
	if h.workers == nil {
		return h.openEngine(kind, engine.Config{CacheDir: h.cacheDir, Precompile: c.Folder, Logger: h.log}, compileOf(c))
	}
	runner, err := h.workers.With(codeOf(kind, c))
	if err != nil {
		return nil, err
	}
	return &native{runner: runner, compile: compileOf(c)}, nil
}

// variant returns kind as guests run on it: in workers, or in this process.
func (h *Host) variant(kind engines.Kind) engines.Kind {
	if h.isolation == IsolateNone {
		return kind
	}
	return kind.InWorker()
}

// codeOf returns how modules get the native code of an engine, from its compiler.
func codeOf(kind engines.Kind, c *compiler.Compiler) worker.NativeCode {
	code := worker.NativeCode{Engine: kind, Compile: c.FolderOf, Invalidate: c.Invalidate, Used: c.Used}
	code.Images = func(ctx context.Context) (worker.ImageStore, error) { return c.Images(ctx) }
	if c.MapsCode() {
		code.Code = c.Code
	}
	return code
}

// A compileFunc compiles a module. It does not hold binary while the module waits for its turn if load is not nil, which returns it again.
type compileFunc = func(ctx context.Context, binary []byte, load func() ([]byte, error)) error

// compileOf returns what compiles a module: see [compiler.Compiler.FolderOf].
func compileOf(c *compiler.Compiler) compileFunc {
	return func(ctx context.Context, binary []byte, load func() ([]byte, error)) error {
		_, err := c.FolderOf(ctx, binary, load)
		return err
	}
}

// openEngine opens an engine whose guests run in this process. compile is nil if it compiles them by itself.
func (h *Host) openEngine(kind engines.Kind, cfg engine.Config, compile compileFunc) (*native, error) {
	e, err := kind.Open(cfg)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open < 0 {
		return nil, errors.Join(errors.New("the Host is closed"), e.Close())
	}
	h.closers = append(h.closers, e.Close)
	return &native{runner: pool.InProcess{Engine: e, Compile: compile}, compile: compile}, nil
}
