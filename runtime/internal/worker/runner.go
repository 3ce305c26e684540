package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/confine"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
	"github.com/wasmres/wasmres/runtime/internal/process"
	"github.com/wasmres/wasmres/runtime/internal/sandbox"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// Config says how workers are run. Compile and Forget are required.
type Config struct {
	// Compile sees to it that a metered module is compiled, and gives the absolute path of the folder that is the engine's
	// compilation cache of this module, and of no other: a worker may read all that is in there. It is never done in this
	// process.
	Compile func(ctx context.Context, binary []byte) (dir string, err error)
	// Forget is told when a worker could not use what is in there, so that the next Compile makes it again.
	Forget func(binary []byte) error
	// Executable is the program to start; it calls [Main] first. Empty means the running program.
	Executable string
	// Quick is how long calls last, on the average, that may wait for each other where there is no processor for each: on
	// one link, one after the other, so that the worker need not sleep in between. Zero means 250 µs.
	Quick time.Duration
	// Grace is how long after its deadline a call may end by itself, before its worker is killed. Zero means 60 ms.
	Grace  time.Duration
	Logger *slog.Logger // nil discards
}

// grace is the default of Config.Grace. An honest worker looks at the clock every few microseconds of computing; what
// takes long is a guest that touches page after page, and a machine that is busy: killing for that would make it busier.
const grace = 60 * time.Millisecond * slowdown

// quick is the default of Config.Quick.
const quick = 250 * time.Microsecond

// A Runner is a [sandbox.Runner] that runs each module's guests in a worker of its own. It is safe for concurrent use.
type Runner struct {
	cfg     Config              // fixed at creation
	tests   func() wazero.Tests // likewise; tests once
	made    time.Time           // likewise
	spares  spares
	crowd   crowd
	current atomic.Pointer[Walls] // of the worker last started
}

// Walls are those around a worker.
type Walls struct {
	Layers     confine.Layers      // as the worker says, which a parent cannot check
	Namespaces []process.Namespace // as it was started
}

// Spaces names the namespaces a worker has to itself.
func (w *Walls) Spaces() (own []string) {
	for _, n := range w.Namespaces {
		if n.Err == nil {
			own = append(own, n.Kind)
		}
	}
	return own
}

// New makes a Runner. Nothing is started before a module is opened.
func New(cfg Config) (*Runner, error) {
	if cfg.Compile == nil || cfg.Forget == nil {
		return nil, errors.New("worker: it takes a compiler")
	}
	if cfg.Grace < 0 || cfg.Quick < 0 {
		return nil, fmt.Errorf("worker: grace of %v and quick %v must not be negative", cfg.Grace, cfg.Quick)
	}
	if cfg.Quick == 0 {
		cfg.Quick = quick
	}
	if cfg.Grace == 0 {
		cfg.Grace = grace
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	tests := sync.OnceValue(func() wazero.Tests { return wazero.Test(cfg.Logger) })
	r := &Runner{cfg: cfg, tests: tests, made: time.Now()}
	r.spares.runner = r
	return r, nil
}

// Walls says which walls stand around the worker that was started last; nil when none was.
func (r *Runner) Walls() *Walls { return r.current.Load() }

// Open implements [sandbox.Runner]: it has the module compiled and its first worker started.
func (r *Runner) Open(ctx context.Context, o *sandbox.Order) (sandbox.Guests, error) {
	r.spares.enter()
	g, err := r.open(ctx, o)
	if err != nil {
		r.spares.leave()
		return nil, err
	}
	return g, nil
}

func (r *Runner) open(ctx context.Context, o *sandbox.Order) (*guests, error) {
	stripped, err := o.WithoutCode()
	if err != nil {
		return nil, abi.Errorf(abi.CodeModule, "not a WebAssembly module this engine accepts").Because(err)
	}
	module, err := protocol.MemfdOf(stripped.Append(nil))
	if err != nil {
		return nil, fmt.Errorf("worker: hand over the module: %w", err)
	}
	g := &guests{runner: r, order: o, module: module, places: make(chan struct{}, min(o.Limits.Calls, protocol.MaxLinks))}
	if err := g.open(ctx); err != nil {
		return nil, errors.Join(err, g.close())
	}
	r.crowd.enter(g)
	return g, nil
}

// Busy reports whether any module has been called of late.
func (r *Runner) Busy() bool { return r.crowd.beside(nil) }

// unusable reports whether a worker's failure to start may be the compiled module's fault: it has refused it, or has died
// of it without a word.
func unusable(err error) bool {
	return abi.CodeOf(err) == abi.CodeModule || errors.Is(err, io.EOF) || errors.Is(err, protocol.ErrGone)
}
