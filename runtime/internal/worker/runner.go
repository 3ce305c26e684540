package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/internal/turns"
	"github.com/wasmres/wasmres/runtime/internal/confine"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/engines"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/process"
	"github.com/wasmres/wasmres/runtime/internal/worker/live"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// NativeCode is how modules get the native code of an engine. Compile and Invalidate are required.
type NativeCode struct {
	// Compile compiles a metered module, in another process, and returns the absolute path of the directory that is the
	// engine's compilation cache of this module alone: a worker may read all files in it. If load is not nil, it returns the module
	// again, and Compile does not hold binary while the module waits for its turn.
	Compile func(ctx context.Context, binary []byte, load func() ([]byte, error)) (dir string, err error)
	// Engine is whose native code Compile makes.
	Engine engines.Kind
	// Invalidate makes the next Compile compile the module again. It is called when a worker cannot use the directory.
	Invalidate func(binary []byte) error
	// Code opens the file of the native code alone in a directory that Compile has returned, for the owner of ctx; a worker maps
	// it. Without it, and after an error, a worker copies the code from the directory. Nil is for engines that map it themselves.
	Code func(ctx context.Context, dir string) (*os.File, error)
	// Images returns what keeps the images of the modules that the owner of ctx has, so that only the first worker of a module starts
	// its guest. Nil keeps none.
	Images func(ctx context.Context) (ImageStore, error)
	// Used is called with the directory whenever a worker was started from it, and every few minutes while that is called, for the owner of
	// ctx. Nil calls nothing.
	Used func(ctx context.Context, dir string)
}

func (c *NativeCode) complete() error {
	if c.Compile == nil || c.Invalidate == nil {
		return errors.New("worker: NativeCode.Compile and NativeCode.Invalidate are required")
	}
	if c.Used == nil {
		c.Used = func(context.Context, string) {}
	}
	return nil
}

// Config configures a Runner. NativeCode is required.
type Config struct {
	NativeCode
	// Executable is the program to start; it calls [child.Main] first. Empty means the running program.
	Executable string
	// Idle is how long a worker without calls keeps running; longer if guest state outlives calls: then for at least
	// Limits.Idle, which is how long sessions last unused. Then the worker is stopped, and the next call starts one.
	// Zero stops none.
	Idle time.Duration
	// MaxStarts is how many workers start at once; more wait, and their owners take turns: see [turns.Line]. Zero means two for each
	// processor.
	MaxStarts int
	// Standby is how many workers are ready for the next starts, while any module is open. Zero means 1.
	Standby int
	// Live bounds the workers of this and of other runners. Nil bounds none. A module may have a group of its own beside it:
	// see [guest.Config].
	Live *live.Group
	// OwnerOf returns the owner of the module that a context opens, whose workers have a share of Live together, and start in turn with those
	// of others; empty for none. Then, and if OwnerOf is nil, they belong to the outermost group of the module.
	OwnerOf func(ctx context.Context) string
	// PipelineUnder is the mean time of calls below which calls wait for each other on one link, if there are fewer
	// processors than calls: then the worker does not sleep in between. Zero means 250 µs.
	PipelineUnder time.Duration
	// LinkIdle is how long a connection to a worker is unused before it is closed, but for the first one: each takes descriptors
	// here, and memory and a thread there. Zero means 10 s.
	LinkIdle time.Duration
	// Grace is how long after its deadline a call may end by itself, before its worker is killed. Zero means 60 ms.
	Grace  time.Duration
	Logger *slog.Logger // nil discards
}

// defaultGrace is the default of Config.Grace. An honest worker checks the clock every few microseconds of computing,
// but later on a busy machine, or while the guest touches many new pages. Killing it then would make the machine
// busier.
const defaultGrace = 60 * time.Millisecond * slowdown

// defaultLinkIdle is the default of Config.LinkIdle.
const defaultLinkIdle = 10 * time.Second

// defaultPipelineUnder is the default of Config.PipelineUnder.
const defaultPipelineUnder = 250 * time.Microsecond

// A Runner is a [guest.Runner] that runs the guests of each module in their own worker. It is safe for concurrent use.
type Runner struct {
	*shared
	// fixed at creation
	code  NativeCode
	tests func() engine.Tests // runs the engine's tests once
}

// shared is what Runners of several engines share: a standby worker serves a module of any engine.
type shared struct {
	// fixed at creation
	cfg    Config // whose NativeCode is that of the first Runner
	made   time.Time
	starts *turns.Line // has a slot for each worker while it starts

	standby  standby
	activity activity
	saves    slot                      // in which an image is saved
	saving   slot                      // in which images are saved or wait for that
	current  atomic.Pointer[Isolation] // of the worker last started
}

// Isolation describes how a worker is isolated.
type Isolation struct {
	Layers     confine.Layers      // as reported by the worker; the parent cannot check them
	Namespaces []process.Namespace // as it was started
	Copied     string              // why its native code is a copy of its own; empty if it is mapped
	Unsaved    string              // why it has started its guest; empty if it has a saved image, or none are saved
}

// New makes a Runner. It starts no process before a module is opened.
func New(cfg Config) (*Runner, error) {
	if err := cfg.NativeCode.complete(); err != nil {
		return nil, err
	}
	if min(cfg.Grace, cfg.PipelineUnder, cfg.Idle, cfg.LinkIdle) < 0 || min(cfg.MaxStarts, cfg.Standby) < 0 {
		return nil, fmt.Errorf("worker: Config.Grace %v, PipelineUnder %v, Idle %v, LinkIdle %v, MaxStarts %d and Standby %d must not be negative",
			cfg.Grace, cfg.PipelineUnder, cfg.Idle, cfg.LinkIdle, cfg.MaxStarts, cfg.Standby)
	}
	if cfg.PipelineUnder == 0 {
		cfg.PipelineUnder = defaultPipelineUnder
	}
	if cfg.Grace == 0 {
		cfg.Grace = defaultGrace
	}
	if cfg.LinkIdle == 0 {
		cfg.LinkIdle = defaultLinkIdle
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &shared{cfg: cfg, made: time.Now(), starts: turns.New(cmp.Or(cfg.MaxStarts, 2*goruntime.GOMAXPROCS(0))), saves: newSlot(1), saving: newSlot(maxSaves)}
	r := s.newRunner(cfg.NativeCode)
	r.standby.runner, r.standby.size = r, cmp.Or(cfg.Standby, 1)
	return r, nil
}

// With returns a Runner for modules of another engine. Both share the configuration of r, the standby workers and the slots in
// which workers start.
func (r *Runner) With(code NativeCode) (*Runner, error) {
	if err := code.complete(); err != nil {
		return nil, err
	}
	return r.newRunner(code), nil
}

// newRunner makes a Runner for complete code.
func (s *shared) newRunner(code NativeCode) *Runner {
	return &Runner{shared: s, code: code, tests: sync.OnceValue(func() engine.Tests { return code.Engine.Test(s.cfg.Logger) })}
}

// Isolation returns the isolation of the worker that was started last; nil when none was.
func (r *Runner) Isolation() *Isolation { return r.current.Load() }

// Open implements [guest.Runner]: it compiles the module and starts the first worker, unless the first call does.
func (r *Runner) Open(ctx context.Context, h *guest.Host) (guest.Guests, error) {
	r.standby.add()
	g, err := r.open(ctx, h)
	if err != nil {
		r.standby.remove()
		return nil, err
	}
	return g, nil
}

func (r *Runner) open(ctx context.Context, h *guest.Host) (*guests, error) {
	g := &guests{runner: r, host: h}
	g.meter = h.Share.NewMeter(g.usedCPU)
	if r.cfg.OwnerOf != nil {
		g.owner = r.cfg.OwnerOf(ctx)
	}
	if r.code.Images != nil {
		var err error
		if g.images, err = r.code.Images(ctx); err != nil {
			g.images, g.noImages = nil, err.Error()
		}
	}
	g.life, g.end = context.WithCancel(context.WithoutCancel(ctx))
	for _, first := range []*live.Group{h.Live, r.cfg.Live} {
		for group := first; group != nil; group = group.Within() {
			g.groups = append(g.groups, group)
		}
	}
	err := g.open(ctx)
	if err != nil {
		g.end()
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

// MaxCalls implements [guest.Runner]: each call has its own link, or waits for one.
func (r *Runner) MaxCalls() int { return protocol.MaxLinks }

// Busy reports whether any module was called recently.
func (r *Runner) Busy() bool { return r.activity.othersActive(nil) }
