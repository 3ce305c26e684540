package compiler

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
)

// Config configures a Compiler.
type Config struct {
	// CacheDir is the engine's compilation cache; required. It must belong to this user, and no other user may write to
	// it. It is made with mode 0700 when it is first needed.
	CacheDir string
	// MaxBytes bounds what CacheDir holds: when something is added, what was used least recently is removed. Zero means
	// DefaultMaxBytes. What was used within the last ten minutes stays.
	MaxBytes int64
	// Executable is the program to start; it calls [Main] first. Empty means the running program, even when its file
	// has been replaced since.
	Executable string
	// Timeout bounds one compilation by the clock, from the start of its process. Zero means 2 min. Running into it is
	// remembered only of a module that had the processor for half that time: the machine may have been busy.
	Timeout time.Duration
	// CPU bounds the processor time of one compilation, all threads together, in whole seconds, rounded up. Zero means
	// 1 min. Linux only.
	CPU time.Duration
	// Memory bounds the address space of one compilation in bytes, beyond what the idle process has reserved. Zero
	// means 2 GiB; at least 64 MiB. Linux only.
	Memory uint64
	// Concurrent is how many modules are compiled at once; more wait. Zero means 1.
	Concurrent int
	// Busy reports whether requests are being served, which should notice as little as may be: a child that starts then
	// leaves them a processor. Nil means never.
	Busy func() bool
	// Logger receives refusals, the output of children, and isolation that this machine does not support. Nil
	// discards.
	Logger *slog.Logger
}

const minMemory = 64 << 20

func (cfg *Config) complete() error {
	var errs []error
	if cfg.CacheDir == "" {
		errs = append(errs, errors.New("no cache folder"))
	}
	if cfg.Timeout < 0 || cfg.CPU < 0 || cfg.Concurrent < 0 || cfg.MaxBytes < 0 {
		errs = append(errs, errors.New("a limit is negative"))
	}
	if cfg.Memory != 0 && cfg.Memory < minMemory || cfg.Memory > math.MaxInt64/2 {
		errs = append(errs, fmt.Errorf("memory limit of %d bytes is out of range, the least is %d", cfg.Memory, minMemory))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	setDefault(&cfg.Timeout, 2*time.Minute*slowdown)
	setDefault(&cfg.CPU, time.Minute*slowdown)
	setDefault(&cfg.Memory, 2<<30)
	setDefault(&cfg.Concurrent, 1)
	setDefault(&cfg.MaxBytes, DefaultMaxBytes)
	setDefault(&cfg.Logger, slog.New(slog.DiscardHandler))
	cfg.CPU = (cfg.CPU + time.Second - 1).Truncate(time.Second)
	return nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// A Compiler compiles modules in child processes. It is safe for concurrent use. It needs no closing: nothing of it
// runs once every Compile has returned.
type Compiler struct {
	// Fixed at creation.
	cfg   Config
	slots chan struct{} // one element for each child
	store *store

	mu sync.Mutex // guards the fields below
	// known is what has become of modules, by digest. Bounded, the rest is on disk.
	known        map[digest]outcome
	compilations map[digest]*compilation
}

// digest is the SHA-256 of a module.
type digest = [sha256.Size]byte

// maxKnown bounds the outcomes kept in memory.
const maxKnown = 1024

// New makes a Compiler. The cache folder is looked at when it is first needed.
func New(cfg Config) (*Compiler, error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("compiler: %w", err)
	}
	dir, err := filepath.Abs(cfg.CacheDir)
	if err != nil {
		return nil, fmt.Errorf("compiler: %w", err)
	}
	cfg.CacheDir = dir
	return &Compiler{
		cfg:          cfg,
		slots:        make(chan struct{}, cfg.Concurrent),
		store:        &store{dir: dir, maxBytes: cfg.MaxBytes, program: sync.OnceValues(program)},
		known:        map[digest]outcome{},
		compilations: map[digest]*compilation{},
	}, nil
}

// Compile sees to it that the compilation cache has the module. It returns when it has, when the module is refused
// ([abi.CodeModule]: invalid, or over a limit), when something else is wrong (any other code), or soon after ctx ends.
//
// A refusal is remembered, here and in the cache folder, until the limit it ran into is raised or the engine changes.
// Calls with the same module share one child, which is killed when none of them waits any more.
func (c *Compiler) Compile(ctx context.Context, binary []byte) error {
	_, err := c.Entry(ctx, binary)
	return err
}

// Entry does what Compile does and tells where the compilation cache has the module: the absolute path of the one file
// that is its native code. The file is not checked: a caller that cannot use it calls Invalidate.
func (c *Compiler) Entry(ctx context.Context, binary []byte) (file string, err error) {
	if isChild() {
		return "", errors.New("compiler: this process was started to compile, but its main does not call compiler.Main")
	}
	o, err := c.outcome(ctx, binary)
	if err == nil {
		err = o.err()
	}
	if err != nil {
		return "", err
	}
	return c.store.path(o), nil
}

// Folder does what Compile does and gives the folder that is the engine's compilation cache of this module, and of no
// other: an absolute path.
func (c *Compiler) Folder(ctx context.Context, binary []byte) (dir string, err error) {
	if _, err := c.Entry(ctx, binary); err != nil {
		return "", err
	}
	return c.store.folder(sha256.Sum256(binary)), nil
}

// Invalidate removes a module's entry from the compilation cache, since it has proved to be unusable: the next Compile makes
// it again. A module without an entry is none the worse for it, and a refusal stays. Until the entry is gone, which the
// error says it is not, Compile may take it for good.
func (c *Compiler) Invalidate(binary []byte) error {
	d := sha256.Sum256(binary)
	c.mu.Lock()
	o := c.known[d]
	if o.Refused == "" {
		delete(c.known, d)
	}
	c.mu.Unlock()
	if err := c.store.discard(d, o); err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	return nil
}

// outcome finds out what becomes of a module. An error says nothing of the module.
func (c *Compiler) outcome(ctx context.Context, binary []byte) (outcome, error) {
	if err := context.Cause(ctx); err != nil {
		return outcome{}, fmt.Errorf("compile module: %w", err)
	}
	d := sha256.Sum256(binary)
	if o, ok := c.cached(d); ok {
		return o, nil
	}
	f := c.join(d, binary)
	select {
	case <-f.done:
		return f.outcome, f.err
	case <-ctx.Done():
		c.leave(d, f)
		return outcome{}, fmt.Errorf("compile module: %w", context.Cause(ctx))
	}
}

// cached returns what is known of a module without looking for its outcome on disk.
func (c *Compiler) cached(d digest) (outcome, bool) {
	c.mu.Lock()
	o, ok := c.known[d]
	c.mu.Unlock()
	if !ok || !c.store.has(o) {
		return o, false
	}
	if o.Refused == "" {
		use(c.store.marker(d, "compiled"))
	}
	return o, true
}

// loadOrCompile finds or makes the outcome of a module. An error is not worth remembering.
func (c *Compiler) loadOrCompile(ctx context.Context, d digest, binary []byte) (outcome, error) {
	fingerprint, err := c.store.open(ctx)
	if err != nil {
		return outcome{}, err
	}
	if o, ok := c.store.find(d, fingerprint, &c.cfg); ok {
		return o, nil
	}
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return outcome{}, context.Cause(ctx)
	}
	o, err := c.compile(ctx, d, binary)
	if err != nil {
		return outcome{}, err
	}
	o.Fingerprint = fingerprint
	if err := c.store.keep(d, o); err != nil {
		c.cfg.Logger.Warn("outcome of a compilation not kept", "digest", short(d), "err", err)
	}
	return o, nil
}

// compile runs a child in a scratch folder of its own and takes over the file it has left there.
func (c *Compiler) compile(ctx context.Context, d digest, binary []byte) (_ outcome, err error) {
	scratch, err := c.store.scratch()
	if err != nil {
		return outcome{}, err
	}
	defer func() {
		if gone := os.RemoveAll(scratch); gone != nil {
			c.cfg.Logger.Warn("scratch folder not removed", "err", gone)
		}
	}()
	if err := wazero.MakeCacheDir(scratch); err != nil {
		return outcome{}, err
	}
	o, err := c.run(ctx, d, scratch, binary)
	if err != nil || o.Refused != "" {
		return o, err
	}
	o.File, o.Size, err = c.store.install(d, scratch)
	return o, err
}

func short(d digest) string { return fmt.Sprintf("%x", d[:8]) }
