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
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/internal/turns"
	"github.com/wasmres/wasmres/runtime/internal/engine/engines"
	"github.com/wasmres/wasmres/runtime/internal/fair"
)

// Config configures a Compiler.
type Config struct {
	// CacheDir is the engine's compilation cache; required. The Compiler makes it with mode 0700 when first needed. It
	// must belong to this user, and other users must not be able to write to it.
	CacheDir string
	// Engine is whose native code the Compiler makes. Compilers of several engines may share CacheDir.
	Engine engines.Kind
	// MaxBytes bounds CacheDir: adding an entry removes the least recently used ones. Zero means DefaultMaxBytes.
	// Entries used within the last ten minutes stay.
	MaxBytes int64
	// Executable is the program to start; it calls [Main] first. Empty means the running program, even if its file has
	// been replaced since.
	Executable string
	// Timeout bounds one compilation by the clock, from the start of its process. Zero means 2 min. The Compiler
	// remembers a timeout only if the module had a processor for half that time: otherwise the machine was busy.
	Timeout time.Duration
	// CPU bounds the processor time of one compilation, all threads together, in whole seconds, rounded up. Zero means
	// 1 min. Linux only.
	CPU time.Duration
	// Memory bounds the address space of one compilation in bytes, beyond what the idle process has reserved. Zero
	// means 2 GiB; at least 64 MiB. Linux only.
	Memory uint64
	// Concurrent is how many modules are compiled at once; more wait, and owners take turns: see [WithOwner]. Zero means 1.
	Concurrent int
	// Busy reports whether requests are being served. A child that starts then leaves a processor to them. Nil means
	// never.
	Busy func() bool
	// Reserve waits for memory that a child is expected to use, in bytes, and has others give it up. ctx has the owner of the compilation.
	// If the system kills the child, as it does when memory is exhausted, the Compiler reserves twice as much, and compiles once more. It
	// calls release when the child has ended. Nil reserves nothing, and compiles once.
	Reserve func(ctx context.Context, bytes int64) (release func(), err error)
	// Logger receives refusals, the output of children, and missing isolation layers of this machine. Nil discards.
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

// A Compiler compiles modules in child processes. It is safe for concurrent use. It needs no closing: no goroutine or
// process of it remains when every Compile has returned.
type Compiler struct {
	// Fixed at creation.
	cfg   Config
	line  *turns.Line // has a slot for each child
	store *store

	images *images // of all compilers of one store

	hasOwners atomic.Bool // a module had an owner

	mu sync.Mutex // guards the fields below
	// known has outcomes by digest: at most maxKnown; the others are on disk.
	known        map[digest]outcome
	compilations map[digest]*compilation
	killed       killed
}

// ownerOf returns the owner of a context, and notes that modules have owners.
func (c *Compiler) ownerOf(ctx context.Context) string {
	owner := OwnerOf(ctx)
	if owner != "" {
		c.hasOwners.Store(true)
	}
	return owner
}

// digest is the SHA-256 of a module; for an engine other than the default, of its name and the module.
type digest = [sha256.Size]byte

func (c *Compiler) digest(binary []byte) (d digest) {
	if c.cfg.Engine.IsDefault() {
		return sha256.Sum256(binary)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s ", string(c.cfg.Engine)) // never fails
	h.Write(binary)                             // likewise
	h.Sum(d[:0])
	return d
}

// maxKnown bounds the outcomes kept in memory.
const maxKnown = 1024

// New makes a Compiler. It does not open the cache directory before it is needed.
func New(cfg Config) (*Compiler, error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("compiler: %w", err)
	}
	dir, err := filepath.Abs(cfg.CacheDir)
	if err != nil {
		return nil, fmt.Errorf("compiler: %w", err)
	}
	cfg.CacheDir = dir
	return newCompiler(cfg, turns.New(cfg.Concurrent), &images{of: map[string]*Images{}}), nil
}

// With returns a Compiler for another engine. It has the configuration of c, and both share the slots of Config.Concurrent.
func (c *Compiler) With(kind engines.Kind) *Compiler {
	cfg := c.cfg
	cfg.Engine = kind
	return newCompiler(cfg, c.line, c.images)
}

// newCompiler makes a Compiler with a complete configuration.
func newCompiler(cfg Config, line *turns.Line, images *images) *Compiler {
	return &Compiler{
		cfg:          cfg,
		line:         line,
		images:       images,
		store:        &store{engine: cfg.Engine, dir: cfg.CacheDir, maxBytes: cfg.MaxBytes, program: sync.OnceValues(program)},
		known:        map[digest]outcome{},
		compilations: map[digest]*compilation{},
		killed:       killed{},
	}
}

// Compile puts the native code of a module into the compilation cache, unless it is there. The error is
// [abi.CodeModule] for a module that is invalid or exceeds a limit, and has another code for any other failure. Compile
// returns soon after ctx ends.
//
// The Compiler remembers a refusal, in memory and in the cache directory, until the limit is raised or the engine
// changes. Calls with the same module share one child, and the last of them to end early kills it. What [fair.ShareOf] returns for
// the context of the first pays for the processor time of the child.
func (c *Compiler) Compile(ctx context.Context, binary []byte) error {
	_, err := c.Entry(ctx, binary)
	return err
}

// Entry is Compile, and returns the absolute path of the file with the native code. It does not check the file: a
// caller that cannot use it calls Invalidate.
func (c *Compiler) Entry(ctx context.Context, binary []byte) (file string, err error) {
	o, err := c.compiled(ctx, c.digest(binary), binary, nil)
	if err != nil {
		return "", err
	}
	return c.store.path(o), nil
}

// Folder is Compile, and returns the absolute path of the directory that is the engine's compilation cache of this
// module only.
func (c *Compiler) Folder(ctx context.Context, binary []byte) (dir string, err error) {
	return c.FolderOf(ctx, binary, nil)
}

// FolderOf is Folder for a module that load returns again. While the module waits to be compiled, the Compiler does not hold binary;
// it calls load when the turn has come, with other goroutines. A nil load is that of Folder.
func (c *Compiler) FolderOf(ctx context.Context, binary []byte, load func() ([]byte, error)) (dir string, err error) {
	d := c.digest(binary)
	if _, err := c.compiled(ctx, d, binary, load); err != nil {
		return "", err
	}
	return c.store.folder(d), nil
}

// compiled returns the outcome of a module that is compiled.
func (c *Compiler) compiled(ctx context.Context, d digest, binary []byte, load func() ([]byte, error)) (outcome, error) {
	if isChild() {
		return outcome{}, errors.New("compiler: this process was started to compile, but its main does not call compiler.Main")
	}
	o, err := c.outcome(ctx, d, binary, load)
	if err == nil {
		err = o.err()
	}
	return o, err
}

// Used notes that the module was used whose directory Folder has returned, and the file of its native code for the owner of ctx, so that
// they are not the first to be removed when the cache is full.
func (c *Compiler) Used(ctx context.Context, dir string) {
	use(dir + ".compiled")
	if !c.MapsCode() {
		return
	}
	if o, err := c.compiledIn(ctx, dir); err == nil {
		if info, err := os.Lstat(c.store.path(o)); err == nil {
			use(c.store.mapped(o, info, c.ownerOf(ctx)))
		}
	}
}

// Invalidate removes an unusable module from the compilation cache, so that the next Compile compiles it again. It does
// nothing for a module that is not cached, and refusals stay. After an error the entry may still be there.
func (c *Compiler) Invalidate(binary []byte) error {
	d := c.digest(binary)
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

// outcome returns the outcome for a module. An error is independent of the module.
func (c *Compiler) outcome(ctx context.Context, d digest, binary []byte, load func() ([]byte, error)) (outcome, error) {
	if err := context.Cause(ctx); err != nil {
		return outcome{}, fmt.Errorf("compile module: %w", err)
	}
	if o, ok := c.cached(d); ok {
		return o, nil
	}
	f := c.join(d, c.ownerOf(ctx), fair.ShareOf(ctx), c.source(d, binary, load))
	select {
	case <-f.done:
		return f.outcome, f.err
	case <-ctx.Done():
		c.leave(d, f)
		return outcome{}, fmt.Errorf("compile module: %w", context.Cause(ctx))
	}
}

// cached returns the outcome that is in memory.
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

// loadOrCompile returns the outcome from disk, or compiles. Errors are not remembered.
func (c *Compiler) loadOrCompile(ctx context.Context, d digest, from source) (outcome, error) {
	fingerprint, err := c.store.open(ctx)
	if err != nil {
		return outcome{}, err
	}
	if o, ok := c.store.find(d, fingerprint, &c.cfg); ok {
		return o, nil
	}
	if err := c.notYet(d); err != nil {
		return outcome{}, err
	}
	leave, err := c.line.Enter(ctx, OwnerOf(ctx))
	if err != nil {
		return outcome{}, err
	}
	defer leave()
	o, err := c.compileWithin(ctx, d, from)
	if err != nil {
		return outcome{}, err
	}
	o.Fingerprint = fingerprint
	if err := c.store.keep(d, o); err != nil {
		c.cfg.Logger.Warn("outcome of a compilation not kept", "digest", short(d), "err", err)
	}
	return o, nil
}

// notYet returns the error of a module that is not to be compiled yet, since the system has killed its children.
func (c *Compiler) notYet(d digest) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.killed.err(d)
}

// compile runs a child in its own temporary directory, and moves the file from there to the cache.
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
	if err := c.cfg.Engine.MakeCacheDir(scratch); err != nil {
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
