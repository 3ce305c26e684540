package sandbox

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/limiter"
	"github.com/wasmres/wasmres/runtime/internal/module"
	"github.com/wasmres/wasmres/runtime/internal/symbol"
	"github.com/wasmres/wasmres/runtime/limits"
)

const maxConfig = abi.MaxRequest - 1<<10 // bytes; the configuration is sent in a request

// Config is how a module is run. Runner is required.
type Config struct {
	Runner   guest.Runner
	Limits   limits.Limits
	Services capability.Services // copied; the notice services are always granted
	// Admission bounds the shape of the module. Zero fields take the default. TableEntries is replaced by Limits.Table.
	Admission limits.Module
	// Lifecycle is the longest lifecycle that is granted. Zero grants only abi.LifecycleFresh.
	Lifecycle abi.Lifecycle
	// Notify receives the notices of the guest: the URI of a changed resource, or an empty one when the list has changed. ctx
	// is that of the call in which the guest gave notice. It must not block. Nil discards.
	Notify func(ctx context.Context, uri string)
	// Observe receives the usage of each call when it has ended, with the context of the call. It must not block. Nil
	// discards.
	Observe func(ctx context.Context, used limits.Usage)
	// Ungranted receives the first request to each service that is absent from Services, once in each call of the guest. It
	// must not block. Nil discards.
	Ungranted func(ctx context.Context, id abi.Service, request []byte)
	// Config is the configuration, as a JSON object, for guests that implement abi.OpConfigure. Empty for none.
	Config string
	// Clock is a fixed time and seed, for tests. Nil is for those of the system.
	Clock *guest.Clock
	// ModuleCache caches instrumented modules. Nil caches none.
	ModuleCache module.Cache
	// Symbols gives modules that may have the names of the functions: the loaded one, or the one before [wasm.Strip]. They
	// are read after the first crash; other modules are ignored. Nil for none.
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
	// fixed at creation
	cfg      Config
	prepared *module.Module
	host     *guest.Host
	guests   guest.Guests
	symbols  func() symbol.Names // names of functions, by index; reads them once

	limiter *limiter.Limiter
	close   func() error // works once
}

// Load instruments a module and opens it. ctx bounds the work. Errors are [abi.Error]s.
func Load(ctx context.Context, cfg Config, binary []byte) (*Module, error) {
	p, err := Prepare(cfg, binary)
	if err != nil {
		return nil, err
	}
	return Open(ctx, cfg, p)
}

// Open compiles, starts and describes an instrumented module. ctx bounds the work.
func Open(ctx context.Context, cfg Config, p *module.Module) (*Module, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	host, err := guest.NewHost(guest.Config{
		Module: p, Limits: cfg.Limits, Services: cfg.Services, MaxLifecycle: cfg.Lifecycle, Values: cfg.Config, Clock: cfg.Clock,
		Notify: cfg.Notify, Ungranted: cfg.Ungranted, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, err
	}
	m := &Module{
		cfg: cfg, prepared: p, host: host,
		limiter: limiter.New(limiter.Config{
			Calls: min(cfg.Limits.Calls, cfg.Runner.MaxCalls()), MilliCPU: cfg.Limits.MilliCPU, Timeout: cfg.Limits.Timeout,
		}),
	}
	m.close, m.symbols = sync.OnceValue(m.release), sync.OnceValue(m.findSymbols)
	if m.guests, err = cfg.Runner.Open(ctx, host); err != nil {
		guest.CompleteCrash(nil, err, m.symbols)
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Manifest describes the provider. It must not be changed.
func (m *Module) Manifest() *abi.Manifest { return m.host.Manifest() }

// Digest is the SHA-256 of the module's bytes, as in "sha256:9f86…".
func (m *Module) Digest() string { return m.prepared.Digest }

// Size is the bytes of the module.
func (m *Module) Size() int { return m.prepared.Size }

// Packed reports whether the manifest was read from the module without running it.
func (m *Module) Packed() bool { return m.prepared.Manifest != nil }

// Lifecycle is the lifecycle in force: that of the manifest, as far as it is granted.
func (m *Module) Lifecycle() abi.Lifecycle { return m.host.Lifecycle() }

// ResetMode is how an instance is reset to the image for each request, and why not in a quicker way.
func (m *Module) ResetMode() (mode guest.ResetMode, why string) {
	return m.guests.Info().Reset, m.guests.Info().Why
}

// Started is what the start of the first instance has used.
func (m *Module) Started() limits.Start { return m.guests.Info().Start }

// Limits are the limits in force.
func (m *Module) Limits() limits.Limits { return m.cfg.Limits }

// Close waits for running calls and releases the module. Calls that have not begun fail with abi.CodeUnavailable. It is
// idempotent.
func (m *Module) Close() error { return m.close() }

func (m *Module) release() error {
	m.limiter.Close()
	defer m.host.Close()
	if m.guests == nil {
		return nil
	}
	return m.guests.Close()
}
