package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	goruntime "runtime"
	"strings"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/module"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/turns"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/engine/codedir"
	"github.com/wasmres/wasmres/runtime/internal/engine/engines"
	"github.com/wasmres/wasmres/runtime/internal/worker"
	"github.com/wasmres/wasmres/runtime/internal/worker/live"
)

// An Isolation is where guests run.
type Isolation int

const (
	// IsolateDefault is IsolateProcess on Linux, and IsolateNone on all other systems.
	IsolateDefault Isolation = iota
	// IsolateProcess runs the guests of each provider in a locked-down child process. Linux only.
	IsolateProcess
	// IsolateNone runs guests in this process. WebAssembly and the limits still bound them.
	IsolateNone
)

// String returns "process" or "in-process".
func (i Isolation) String() string {
	if i.resolve() == IsolateProcess {
		return "process"
	}
	return "in-process"
}

// resolve replaces the default.
func (i Isolation) resolve() Isolation {
	switch {
	case i != IsolateDefault:
		return i
	case goruntime.GOOS == "linux":
		return IsolateProcess
	}
	return IsolateNone
}

// HostConfig configures a [Host]. The zero value is usable.
type HostConfig struct {
	// Isolation is where guests run. IsolateNone compiles modules in this process too, unless [Main] was called.
	Isolation Isolation
	// Engine compiles and runs the modules of providers whose Options name none: "wazero" or "wasmtime". Empty means wazero. A
	// program has wasmtime if it was built for linux/amd64 with CGO_ENABLED=1 and -tags wasmtime; NewHost fails if it was not. See
	// docs/engines.md.
	Engine string
	// CacheDir is a private directory of compiled modules, which NewHost makes with mode 0700. If it is empty, the Host
	// uses a temporary one, which Close removes.
	CacheDir string
	// CacheSize bounds CacheDir, in bytes. Zero means 2 GiB.
	CacheSize int64
	// Idle is how long the worker process of a provider without calls keeps running. Then the Host stops it; the next call
	// starts one, within milliseconds. Subscriptions go on: each poll is a call. A provider with a lifecycle other than fresh
	// keeps its process for at least Limits.Idle, as long as its sessions last unused. Zero stops none; in process there are
	// none.
	Idle time.Duration
	// MaxStarts is how many worker processes start at once. More wait until the deadline of their call, and their owners take turns: see
	// [WithOwner]; one has all but one of the places at most. After the deadline the call fails with abi.CodeUnavailable and the time to
	// retry after. Zero means two for each processor.
	MaxStarts int
	// MaxCompiles is how many modules are compiled at once; more wait, and their owners take turns: see [WithOwner]. Zero means 1.
	// Each may take 2 GiB, and a minute of processor time if it means harm.
	MaxCompiles int
	// MaxOpenings is how many modules [Host.Open] and [Host.Prepare] have in memory at once; more wait, and their owners take turns. A
	// module takes several times the size of its file. With worker processes, one that waits to be compiled is not in memory: it is loaded
	// again when its turn comes. Zero means 16.
	MaxOpenings int
	// Standby is how many worker processes are ready for the next starts, while a provider is open. They are shared by all
	// providers, and replaced in the background. A start without one takes some milliseconds longer. Zero means 1.
	Standby int
	// Live bounds the worker processes of the Host. Nil bounds none.
	Live   *Live
	Logger *slog.Logger // nil discards
}

// A Host runs guests. Its providers share its compiler, its cache and its standby workers, and nothing else. A Host is
// safe for concurrent use. The caller closes it.
type Host struct {
	// fixed at creation
	isolation Isolation
	kind      engines.Kind       // of providers that name no engine
	cacheDir  string             // of compiled modules
	workers   *worker.Runner     // nil when guests run in this process
	compiler  *compiler.Compiler // nil when modules are compiled in this process
	modules   module.Cache       // likewise
	openings  *turns.Line        // has a slot for each module that Open has in memory
	live      *live.Group        // nil bounds nothing
	log       *slog.Logger

	nativesMu sync.Mutex               // taken before mu
	natives   map[engines.Kind]*native // that were needed so far, and that of kind; guarded by nativesMu

	mu      sync.Mutex
	open    int            // providers; guarded by mu
	closers []func() error // in the order of opening; guarded by mu
}

const defaultOpenings = 16

// NewHost makes a Host. It starts no process before a provider is opened. The error is [ErrNoMain], or describes a
// fault of CacheDir or a negative number in cfg.
func NewHost(cfg HostConfig) (*Host, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Host{isolation: cfg.Isolation.resolve(), openings: turns.New(cmp.Or(cfg.MaxOpenings, defaultOpenings)), live: groupOf(cfg.Live), natives: map[engines.Kind]*native{}, log: cfg.Logger}
	if h.isolation == IsolateProcess && !mainCalled.Load() {
		return nil, ErrNoMain
	}
	if cfg.MaxOpenings < 0 {
		return nil, fmt.Errorf("HostConfig.MaxOpenings %d must not be negative", cfg.MaxOpenings)
	}
	var err error
	if h.kind, err = engines.Parse(cfg.Engine); err != nil {
		return nil, err
	}
	if err := h.start(cfg); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// start opens the compiler, and the workers or the engine.
func (h *Host) start(cfg HostConfig) error {
	if cfg.CacheDir == "" {
		dir, err := os.MkdirTemp("", "wasmres-")
		if err != nil {
			return fmt.Errorf("make a temporary cache folder: %w", err)
		}
		cfg.CacheDir = dir
		h.closers = append(h.closers, func() error { return os.RemoveAll(dir) })
	}
	if err := codedir.Check(cfg.CacheDir); err != nil {
		return err
	}
	h.cacheDir = cfg.CacheDir
	if !mainCalled.Load() {
		_, err := h.engineOf("")
		return err
	}
	c, err := compiler.New(compiler.Config{Engine: h.variant(h.kind), CacheDir: cfg.CacheDir, MaxBytes: cfg.CacheSize, Concurrent: cfg.MaxCompiles, Busy: h.busy, Reserve: h.reserver(), Logger: h.log})
	if err != nil {
		return err
	}
	h.compiler, h.modules = c, c
	if h.isolation == IsolateNone {
		_, err := h.engineOf("")
		return err
	}
	h.workers, err = worker.New(worker.Config{
		NativeCode: codeOf(h.variant(h.kind), c), Idle: cfg.Idle, MaxStarts: cfg.MaxStarts, Standby: cfg.Standby, Live: h.live, OwnerOf: compiler.OwnerOf, Logger: h.log,
	})
	if err != nil {
		return err
	}
	h.natives[h.kind] = &native{runner: h.workers, compile: compileOf(c)}
	return nil
}

// WithOwner returns a context for [Host.Open], [Host.Load], [Host.Prepare] and [Prepared.Compile] whose modules belong to an owner, as a
// tenant; its name is not empty. While modules wait to be opened or compiled, owners take turns, and no owner has all of
// HostConfig.MaxCompiles, if that is more than 1. So one with many modules, or with one that takes long, does not keep others waiting. A
// module without an owner may have all. What an owner opens and compiles, and its processes, have one share of HostConfig.Live: the owner
// should be the same for all modules of one Options.Live. A context without an owner is that of a Host with one.
func WithOwner(ctx context.Context, owner string) context.Context {
	return compiler.WithOwner(ctx, owner)
}

// RemoveImages removes from the cache what guests of an owner have had in memory, as of a tenant that was removed: see [WithOwner].
// Providers of the owner that are open start their guests again from then on; those that are opened later may leave images again.
func (h *Host) RemoveImages(owner string) error {
	if h.compiler == nil {
		return nil
	}
	return h.compiler.RemoveImages(owner)
}

// busy reports whether workers were called recently.
func (h *Host) busy() bool { return h.workers != nil && h.workers.Busy() }

// Isolation returns where guests run: IsolateProcess or IsolateNone.
func (h *Host) Isolation() Isolation { return h.isolation }

// Open loads the provider in a .wasm file of at most 64 MiB. ctx bounds loading and starting, and waiting while HostConfig.MaxOpenings
// others are opened. An error about the module has a code: abi.CodeModule if it is invalid or costs too much to
// compile, abi.CodeIncompatible if it is not a provider.
func (h *Host) Open(ctx context.Context, file string, opts *Options) (*Provider, error) {
	o := opts.withDefaults()
	leave, err := h.enterOpening(ctx, file)
	if err != nil {
		return nil, errors.Join(err, closeAll(o.Capabilities))
	}
	defer leave()
	module, err := readModule(file)
	if err != nil {
		return nil, errors.Join(err, closeAll(o.Capabilities))
	}
	if o.Name == "" {
		o.Name = nameOf(file)
	}
	if o.DebugModules == nil {
		o.DebugModules = debugModules(file)
	}
	if o.Reload == nil {
		o.Reload = func() ([]byte, error) { return readModule(file) }
	}
	p, err := h.loadCounted(ctx, module, o, leave)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

// Load is Open for a module in memory. It does not keep module, but code and data of it unless Options.Reload is set.
func (h *Host) Load(ctx context.Context, module []byte, opts *Options) (*Provider, error) {
	return h.loadCounted(ctx, module, opts.withDefaults(), nil)
}

// loadCounted loads a provider, which the Host counts. released is that of load.
func (h *Host) loadCounted(ctx context.Context, module []byte, o *Options, released func()) (*Provider, error) {
	if err := h.enter(); err != nil {
		return nil, errors.Join(err, closeAll(o.Capabilities))
	}
	p, err := h.load(ctx, module, o, released)
	if err != nil {
		h.leave()
		return nil, errors.Join(err, closeAll(o.Capabilities))
	}
	return p, nil
}

// enter counts a provider that is opened.
func (h *Host) enter() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open < 0 {
		return abi.Errorf(abi.CodeUnavailable, "open a provider: its Host is closed")
	}
	h.open++
	return nil
}

// leave counts a provider that was closed.
func (h *Host) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open--
}

// Close releases the Host. It fails while a Provider is open. It is idempotent.
func (h *Host) Close() error {
	closers, err := h.shut()
	if err != nil {
		return err
	}
	var errs []error
	for i := len(closers) - 1; i >= 0; i-- {
		errs = append(errs, closers[i]())
	}
	return errors.Join(errs...)
}

// shut refuses further providers, and returns the functions that Close must call.
func (h *Host) shut() (closers []func() error, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open > 0 {
		return nil, fmt.Errorf("close Host: %d providers are open: close them first", h.open)
	}
	closers, h.closers, h.open = h.closers, nil, -1
	return closers, nil
}

// Open loads the provider in a .wasm file on a Host of its own, which is closed with the provider. ctx bounds loading and
// starting. A nil opts grants nothing and takes the default limits. Errors are those of [Host.Open] and [NewHost].
func Open(ctx context.Context, file string, opts *Options) (*Provider, error) {
	return onOwnHost(opts, func(h *Host) (*Provider, error) { return h.Open(ctx, file, opts) })
}

// Load is [Open] for a module in memory, as from an embed directive.
func Load(ctx context.Context, module []byte, opts *Options) (*Provider, error) {
	return onOwnHost(opts, func(h *Host) (*Provider, error) { return h.Load(ctx, module, opts) })
}

// onOwnHost opens a provider on a new Host, which the provider closes.
func onOwnHost(opts *Options, open func(*Host) (*Provider, error)) (*Provider, error) {
	o := opts.withDefaults()
	h, err := NewHost(HostConfig{Logger: o.Logger})
	if err != nil {
		return nil, errors.Join(err, closeAll(o.Capabilities))
	}
	p, err := open(h)
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	p.ownHost = h
	return p, nil
}

// nameOf returns a file's name without directory and extension.
func nameOf(file string) string {
	file = strings.ReplaceAll(file, `\`, "/")
	return strings.TrimSuffix(file[strings.LastIndex(file, "/")+1:], ".wasm")
}
