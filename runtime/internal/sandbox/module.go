package sandbox

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/limiter"
	"github.com/wasmres/wasmres/runtime/internal/module"
	"github.com/wasmres/wasmres/runtime/internal/symbol"
	"github.com/wasmres/wasmres/runtime/limits"
)

const maxConfig = abi.MaxRequest - 1<<10 // bytes; it travels in a request

// Config says how a module is run. Runner is required.
type Config struct {
	Runner   guest.Runner
	Limits   limits.Limits
	Services capability.Services // copied; the notice services are always there
	// Admission bounds the shape of the module. Zero fields take the default; those that follow from Limits are
	// replaced.
	Admission limits.Module
	// Lifecycle is the most that the provider is granted of what its manifest may ask for. Zero grants none but
	// abi.LifecycleFresh.
	Lifecycle abi.Lifecycle
	// Notify takes the guest's notices: the URI of a changed resource, or the empty string when the list has changed.
	// ctx is that of the call in which the guest gave notice. It must not block. Nil drops them.
	Notify func(ctx context.Context, uri string)
	// Observe is told about each call when it has ended, with the context it was made with. It must not block. Nil
	// drops that.
	Observe func(ctx context.Context, used limits.Usage)
	// Ungranted is told of the first call of each service that is absent from Services, once in each call of the guest.
	// It must not block. Nil drops that.
	Ungranted func(ctx context.Context, id abi.Service, request []byte)
	// Config is handed, as a JSON object, to guests that implement abi.OpConfigure. Empty for none.
	Config string
	// Clock is for tests. Nil is for the real time and random numbers.
	Clock *guest.Clock
	// ModuleCache stores prepared modules. Nil stores none.
	ModuleCache module.Cache
	// Symbols gives modules that may have the names of the functions: the one that is loaded, or what it was before
	// [wasm.Strip]. It is asked once a guest has crashed, and others than these are left aside. Nil for none.
	Symbols iter.Seq[[]byte]
	Logger  *slog.Logger // nil discards
}

func (cfg *Config) fill() (err error) {
	if cfg.Limits, err = cfg.Limits.WithDefaults(); err != nil {
		return err
	}
	if len(cfg.Config) > maxConfig {
		return fmt.Errorf("the configuration has %d bytes, at most %d are allowed", len(cfg.Config), maxConfig)
	}
	if cfg.Clock != nil {
		if err := cfg.Clock.Check(); err != nil {
			return err
		}
	}
	cfg.Services = maps.Clone(cfg.Services)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// A Module is a loaded provider module. It is safe for concurrent use.
type Module struct {
	// fixed once it is loaded
	cfg      Config
	prepared *module.Module
	host     *guest.Host
	guests   guest.Guests
	symbols  func() symbol.Names // names of functions, by index; looks for them once

	limiter *limiter.Limiter
	close   func() error // works once
}

// Load prepares a module and opens it. ctx bounds the work. Errors are [abi.Error]s that say what does not fit.
func Load(ctx context.Context, cfg Config, binary []byte) (*Module, error) {
	p, err := Prepare(cfg, binary)
	if err != nil {
		return nil, err
	}
	return Open(ctx, cfg, p)
}

// Open has a prepared module compiled, started and described. ctx bounds the work.
func Open(ctx context.Context, cfg Config, p *module.Module) (*Module, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	m := &Module{
		cfg: cfg, prepared: p, host: guest.NewHost(guest.HostConfig{
			Limits: cfg.Limits, Services: cfg.Services, Lifecycle: cfg.Lifecycle, Notify: cfg.Notify, Ungranted: cfg.Ungranted,
			Logger: cfg.Logger,
		}),
		limiter: limiter.New(limiter.Config{
			Calls: min(cfg.Limits.Calls, cfg.Runner.MaxCalls()), MilliCPU: cfg.Limits.MilliCPU, Timeout: cfg.Limits.Timeout,
		}),
	}
	m.close, m.symbols = sync.OnceValue(m.release), sync.OnceValue(m.findSymbols)
	if err := m.open(ctx); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

func (m *Module) open(ctx context.Context) (err error) {
	if m.Packed() {
		manifest, err := abi.DecodeManifest(m.prepared.Manifest)
		if err != nil {
			return err
		}
		if err := m.host.SetManifest(manifest); err != nil {
			return err
		}
	}
	m.guests, err = m.cfg.Runner.Open(ctx, m.order())
	guest.CompleteCrash(nil, err, m.symbols)
	return err
}

func (m *Module) order() *guest.Config {
	return &guest.Config{
		Module: m.prepared, Limits: m.cfg.Limits, Lifecycle: m.cfg.Lifecycle, Values: m.cfg.Config,
		Services: slices.Sorted(maps.Keys(m.cfg.Services)), Logger: m.cfg.Logger, Clock: m.cfg.Clock,
		Learn: m.host.SetManifest, Host: m.host,
	}
}

// Manifest describes the provider. It must not be changed.
func (m *Module) Manifest() *abi.Manifest { return m.host.Manifest() }

// Digest is the SHA-256 of the module's bytes, as in "sha256:9f86…".
func (m *Module) Digest() string { return m.prepared.Digest }

// Size is the module's bytes.
func (m *Module) Size() int { return m.prepared.Size }

// Packed reports whether the manifest was read from the module without running it.
func (m *Module) Packed() bool { return m.prepared.Manifest != nil }

// Lifecycle is the one in force: what the manifest asks for, as far as it is granted.
func (m *Module) Lifecycle() abi.Lifecycle { return m.host.Lifecycle() }

// ResetMode says how each request gets an instance like the image, and why not in a quicker way.
func (m *Module) ResetMode() (mode guest.ResetMode, why string) { return m.guests.ResetMode() }

// Started says what the first instance used to start.
func (m *Module) Started() limits.Start { return m.guests.Started() }

// Limits are those in force.
func (m *Module) Limits() limits.Limits { return m.cfg.Limits }

// Close waits for running calls and releases the module. Calls that have not begun are abi.CodeUnavailable from then
// on. It is idempotent.
func (m *Module) Close() error { return m.close() }

func (m *Module) release() error {
	m.limiter.Close()
	defer m.host.Close()
	if m.guests == nil {
		return nil
	}
	return m.guests.Close()
}
