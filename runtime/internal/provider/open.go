package provider

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
	"github.com/wasmres/wasmres/abi/uritemplate"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/fair"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/instance"
	"github.com/wasmres/wasmres/runtime/internal/limiter"
	"github.com/wasmres/wasmres/runtime/internal/module"
	"github.com/wasmres/wasmres/runtime/internal/provider/cache"
	"github.com/wasmres/wasmres/runtime/internal/subscribe"
	"github.com/wasmres/wasmres/runtime/internal/symbol"
	"github.com/wasmres/wasmres/runtime/internal/worker/live"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/resource"
)

const (
	defaultPageSize = 1000
	maxValues       = abi.MaxRequest - 1<<10 // bytes; the configuration is sent in a request
)

// Config configures a provider. Runner is required.
type Config struct {
	Name     string // that grants call it by; empty takes the name in the manifest
	Version  string // that traces have; empty takes the version in the manifest
	Runner   guest.Runner
	Limits   limits.Limits
	Services capability.Services // copied; the notice services are always granted
	// ModuleLimits bounds the module. Zero fields take the default. TableEntries is replaced by Limits.Table.
	ModuleLimits limits.Module
	// Lifecycle is the longest lifecycle that is granted. Zero grants only abi.LifecycleFresh.
	Lifecycle abi.Lifecycle
	// Values is the configuration, as a JSON object, for guests that implement abi.OpConfigure. Empty for none.
	Values string
	// Clock is a fixed time and seed, for tests. Nil means those of the system.
	Clock *guest.Clock

	// Lazy starts a worker with the first call only, if the module contains its manifest. Runners without workers ignore it.
	Lazy bool
	// Live bounds the workers of this provider and of others. Nil bounds none. Runners without workers ignore it.
	Live *live.Group
	// Share pays for the processor time of calls and starts. Nil has them wait for no processors.
	Share *fair.Share

	// PageSize is the number of entries of a list page. 0 means 1000.
	PageSize int
	// Cache answers reads from earlier answers, where the guest allows that (a TTL, and the scope public): up to 1 MiB
	// each and 32 MiB in all, for one hour at most, and until the guest reports a change.
	Cache bool
	// Feeds report changes of the data that guests read, such as directories. They are opened when a client first
	// subscribes, and closed with the provider. After a change all subscribed resources are compared with their last
	// version: by polling if the guest asked for that, otherwise by reading.
	Feeds []func(context.Context) (capability.Feed, error)

	// HidePrincipal keeps from the guest who the client is. Then answers are shared between clients.
	HidePrincipal bool
	// Admit is asked before each call of the guest for a client, but not for a poll of the host. Its error refuses the call. It
	// must not block. Nil admits all.
	Admit func(ctx context.Context) error
	// OnCall receives the usage of each call when it has ended, with the context of the call. It must not block. Nil
	// discards.
	OnCall func(ctx context.Context, used limits.Usage)
	// OnFault receives each call that failed because of the guest, when it has ended, after OnCall. It must not block. Nil
	// discards.
	OnFault func(ctx context.Context, f *Fault)
	// Record has OnFault receive records of the calls, by which they can run again. Then guests see a clock that stands still
	// while they compute, and random numbers that follow from 64 bits which the host chooses for each call.
	Record bool
	// Compare has calls run again elsewhere, and what Record does to calls. Nil compares none.
	Compare *Comparison
	// ExposeErrors gives clients the first line of an ordinary error of the guest, which only the log has otherwise.
	ExposeErrors bool
	// OnUngranted receives the first request to each service that is absent from Services, once in each call of the guest. It
	// must not block. Nil discards.
	OnUngranted func(ctx context.Context, id abi.Service, request []byte)
	// ModuleCache caches instrumented modules. Nil caches none.
	ModuleCache module.Cache
	// Source returns the bytes of the module again. With it and a ModuleCache, the provider need not keep code and data of the
	// module in memory. Nil keeps them.
	Source func() ([]byte, error)
	// OnRelease is called when Open no longer holds code and data of the module, as while it waits for the compiler. It is not called
	// if the provider keeps them. Nil calls nothing.
	OnRelease func()
	// DebugModules yields modules that may have the names of the functions: the loaded one, or the one before [wasm.Strip].
	// They are read after the first crash; other modules are ignored. Nil for none.
	DebugModules iter.Seq[[]byte]
	// Provenance is what clients are told of the provider; nil for nothing. Open sets its Digest and Version.
	Provenance *resource.Provenance
	Logger     *slog.Logger // nil discards

	ownClock bool // each call has a time of its own, if calls have records
}

func (cfg *Config) fill() (err error) {
	if cfg.Limits, err = cfg.Limits.WithDefaults(); err != nil {
		return err
	}
	if len(cfg.Values) > maxValues {
		return fmt.Errorf("the configuration has %d bytes, at most %d are allowed", len(cfg.Values), maxValues)
	}
	if cfg.Clock != nil {
		if err := cfg.Clock.Check(); err != nil {
			return err
		}
	}
	if cfg.PageSize <= 0 {
		cfg.PageSize = defaultPageSize
	}
	cfg.setClock()
	cfg.Services = maps.Clone(cfg.Services)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// Open instruments a module and opens it. ctx bounds the work. Errors are [abi.Error]s.
func Open(ctx context.Context, cfg Config, binary []byte) (*Provider, error) {
	m, err := Instrument(cfg, binary)
	if err != nil {
		return nil, err
	}
	return OpenModule(ctx, cfg, m)
}

// Instrument checks and meters a module within the limits of cfg, or finds it in cfg.ModuleCache. Errors are [abi.Error]s.
func Instrument(cfg Config, binary []byte) (*module.Module, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	return module.Instrument(&module.Config{
		Limits: cfg.ModuleLimits, Pages: cfg.Limits.Pages(), Table: cfg.Limits.Table, Imports: instance.Imports(), Cache: cfg.ModuleCache,
		Source: cfg.Source, Share: cfg.Share,
	}, binary)
}

// OpenModule compiles, starts and describes an instrumented module, and prepares it for serving. ctx bounds the work.
func OpenModule(ctx context.Context, cfg Config, m *module.Module) (_ *Provider, err error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	p := &Provider{
		cfg: cfg, static: map[string]string{}, byText: map[string]route{},
		limiter: limiter.New(limiter.Config{
			Calls: min(cfg.Limits.Calls, cfg.Runner.MaxCalls()), MilliCPU: cfg.Limits.MilliCPU, Timeout: cfg.Limits.Timeout,
		}),
	}
	if cfg.Cache {
		p.cache = cache.New()
	}
	p.broker = subscribe.New(subscribe.Config{
		Call: p.callURI, Implements: p.implements, OnChange: p.invalidate,
		MaxCalls: max(1, cfg.Limits.Calls/2), Feeds: cfg.Feeds, Logger: cfg.Logger,
	})
	p.comparer = newComparer(ctx, p)
	p.close, p.names = sync.OnceValue(p.release), sync.OnceValue(p.functionNames)
	p.host, err = guest.NewHost(guest.Config{
		Module: m, Limits: cfg.Limits, Services: cfg.Services, MaxLifecycle: cfg.Lifecycle, Values: cfg.Values, Clock: cfg.Clock, Records: cfg.hasRecords() && cfg.ownClock, Tapes: cfg.hasRecords(),
		Notify: p.broker.Publish, OnUngranted: cfg.OnUngranted, ExposeErrors: cfg.ExposeErrors, Lazy: cfg.Lazy, Live: cfg.Live, Share: cfg.Share, OnRelease: cfg.OnRelease, Logger: cfg.Logger,
	})
	if err == nil {
		err = p.open(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// open starts the guest, and indexes its manifest.
func (p *Provider) open(ctx context.Context) (err error) {
	if p.guests, err = p.cfg.Runner.Open(ctx, p.host); err != nil {
		guest.CompleteCrash(nil, err, p.names)
		return err
	}
	if err := p.index(p.host.Manifest()); err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	if p.cfg.Provenance != nil {
		told := *p.cfg.Provenance
		told.Digest, told.Version = p.host.Module.Digest, p.host.Manifest().Version
		p.provenance = []*resource.Provenance{&told}
	}
	return nil
}

// index prepares templates and static resources for lookup.
func (p *Provider) index(m *abi.Manifest) error {
	for i := range m.Resources {
		uri := m.Resources[i].URI
		if _, twice := p.static[abi.NormalURI(uri)]; twice {
			return abi.Errorf(abi.CodeProtocol, "resource %q is declared twice", uri)
		}
		p.static[abi.NormalURI(uri)] = uri
	}
	for i := range m.Templates {
		declared := &m.Templates[i]
		t, err := uritemplate.Parse(abi.FoldURI(declared.URITemplate))
		if err != nil {
			return abi.Errorf(abi.CodeProtocol, "template %.128q: %v", declared.URITemplate, err)
		}
		text := abi.NormalURI(declared.URITemplate)
		if _, twice := p.byText[text]; twice {
			return abi.Errorf(abi.CodeProtocol, "template %q is declared twice", t)
		}
		r := route{template: t, declared: declared, index: uint32(i + 1)}
		p.routes = append(p.routes, r)
		p.byText[text] = r
	}
	slices.SortFunc(p.routes, func(a, b route) int { return uritemplate.Compare(a.template, b.template) })
	return nil
}

// functionNames returns the names of the module's functions, by index, from cfg.DebugModules; nil when they have none.
func (p *Provider) functionNames() symbol.Names {
	if p.cfg.DebugModules == nil {
		return nil
	}
	names, err := p.host.Module.FunctionNames(p.cfg.DebugModules)
	if err != nil {
		p.cfg.Logger.Debug("functions have no names", "err", guest.Truncate(err))
	}
	return names
}

// Close ends all subscriptions, waits for running calls and releases the module. Calls that have not begun fail with
// abi.CodeUnavailable. It is idempotent.
func (p *Provider) Close() error { return p.close() }

func (p *Provider) release() error {
	p.broker.Close()
	p.limiter.Close()
	if p.host != nil {
		defer p.host.Close()
	}
	compared := p.comparer.close()
	if p.guests == nil {
		return compared
	}
	return errors.Join(compared, p.guests.Close())
}
