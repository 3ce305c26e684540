package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/secret"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Config says which provider to open and what it may do.
type Config struct {
	File   string             // path of the .wasm file
	Digest string             // that the file must have, as [runtime.Inspect] gives it; empty for any
	From   approval.Published // where File came from, if it has a reference
	Name   string             // of the provider among several; of no effect on one alone
	// Prefixes narrow the URIs that the provider may answer: see [runtime.Options].
	Prefixes []string
	// ProviderVersion is what traces call this version of the provider: see [runtime.Options].
	ProviderVersion string
	// HidePrincipal keeps from the provider who the client is: see [runtime.Options].
	HidePrincipal bool
	Grants        policy.Policy // capabilities of the provider; the limits have no effect
	// Sealed opens the sealed secrets that Grants name. Nil refuses them.
	Sealed func(name string) (secret.Value, error)
	// ReplaceServices gives the services that replace the granted ones. Nil keeps those.
	ReplaceServices func(granted capability.Services) (capability.Services, error)
	// Denied receives denied calls, each different one at most once a minute, from many goroutines at once. It must not
	// block. Nil logs them.
	Denied func(Denial)
	// Asked receives each call to a capability, by its name in policies, and how the call ended. A capability that is not
	// granted counts once in each call of the provider. Many goroutines call it at once. It must not block. Nil discards.
	Asked func(capability string, code abi.Code)
	// Admit is asked before each call of the provider: see [runtime.Options].
	Admit func(ctx context.Context) error
	// Used receives what each call has used, from many goroutines at once. It must not block. Nil discards.
	Used func(runtime.Usage)
	// Fault receives each call that failed because of the provider, from many goroutines at once. It must not block. Nil
	// discards.
	Fault func(*Fault)
	// Record has Fault receive recorded sessions: see [runtime.Options].
	Record bool
	// Loading is called if a module of size bytes takes a while to load, and the function it returns when that has ended.
	// Nil logs both.
	Loading func(file string, size int) (end func())
	// Clock gives the same time and random numbers in every run, for tests. Nil gives the real ones.
	Clock  *runtime.Clock
	Limits runtime.Limits
	// ModuleLimits bounds the shape of the module. Zero fields take the default.
	ModuleLimits runtime.ModuleLimits
	// Lifecycle is the longest life of guest state that is granted.
	Lifecycle abi.Lifecycle
	// Isolation is where guests run.
	Isolation runtime.Isolation
	// Engine is that of [runtime.Options], and of the App's own host.
	Engine string
	// Compare has calls run again on another engine. Compared takes the place of its OnCompared. Nil compares none.
	Compare *runtime.Compare
	// Compared receives each comparison: its difference, or why there was none; both are nil for equal runs. Many goroutines call
	// it at once. It must not block. Nil discards.
	Compared func(d *Difference, failed error)
	// UsedAgain receives what each second run of a call has used, as Used does for the first. Nil discards.
	UsedAgain func(runtime.Usage)
	Lazy      bool // the first call starts the worker process: see [runtime.Options]
	// Live bounds the worker processes of several providers: see [runtime.Options]. Nil bounds none.
	Live *runtime.Live
	// Share makes calls wait for processors: see [runtime.Options]. Nil makes none wait.
	Share *runtime.Share
	// Host runs the guests of several Apps, and belongs to the caller. Nil is one of the App's own, by the fields above and
	// below.
	Host *runtime.Host
	// CacheDir is a private directory for compiled modules. Empty is a temporary one, which Close removes.
	CacheDir string
	// CacheOptional opens without CacheDir if it cannot be used.
	CacheOptional bool
	// CacheSize bounds CacheDir, in bytes. Zero means 2 GiB.
	CacheSize int64
	// Provenance tells clients which code answers, in the _meta of results.
	Provenance bool
	// Cache answers reads from earlier ones where the provider allows it: see [runtime.Options].
	Cache bool
	// ExposeErrors gives clients the first line of ordinary errors of providers: see [runtime.Options].
	ExposeErrors bool
	// DataDir is a private directory for the data of providers. It is required, and created, if a provider is granted a
	// store.
	DataDir string
	// Server has options of the server. App sets its Version, timeouts, hosts, origins and Logger.
	Server  runtime.ServerOptions
	Version string       // of wasmres
	Logger  *slog.Logger // nil discards

	among bool // it is one of several providers, and its flags carry its Name
}

// An App is one open provider, or several that are served as one. Close releases it.
type App struct {
	cfg      Config
	host     *runtime.Host
	provider *runtime.Provider    // nil for several
	parts    []*App               // the apps of several
	reload   *runtime.Replaceable // nil unless OpenReload made it
	source   resource.Source      // what is served
	closers  []func() error       // in the order things were opened
	usageMu  sync.Mutex
	usage    runtime.Usage // of the last call; guarded by usageMu
	denials  denials
	secrets  []string                   // that the provider uses
	scrub    func() func(string) string // replaces the secrets in a text; made once

	callOnce sync.Once
	calls    *runtime.Server // for Call
	callErr  error
}

// Open loads the provider. ctx bounds the loading.
func Open(ctx context.Context, cfg Config) (*App, error) {
	a := newApp(cfg)
	err := a.openHost()
	if err == nil {
		err = a.open(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func newApp(cfg Config) *App {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	a := &App{cfg: cfg}
	a.scrub = sync.OnceValue(a.redactor)
	return a
}

// openHost opens a.host.
func (a *App) openHost() error {
	if a.host = a.cfg.Host; a.host != nil {
		return nil
	}
	host, err := newHost(a.cfg)
	if err != nil {
		return err
	}
	a.host, a.closers = host, append(a.closers, host.Close)
	return nil
}

// newHost makes a Host, without the folder of compiled modules if that cannot be used and is optional.
func newHost(cfg Config) (*runtime.Host, error) {
	config := HostConfig(cfg)
	host, err := runtime.NewHost(config)
	if err == nil || cfg.CacheDir == "" || !cfg.CacheOptional {
		return host, err
	}
	cfg.Logger.Debug("compiled modules are not cached", "err", err)
	config.CacheDir = ""
	return runtime.NewHost(config)
}

// HostConfig returns the configuration of the host.
func HostConfig(cfg Config) runtime.HostConfig {
	return runtime.HostConfig{Isolation: cfg.Isolation, Engine: cfg.Engine, CacheDir: cfg.CacheDir, CacheSize: cfg.CacheSize, Logger: cfg.Logger}
}

// open opens the provider and its capabilities on a.host.
func (a *App) open(ctx context.Context) error {
	info, err := os.Stat(a.cfg.File)
	if err != nil {
		return err
	}
	loaded := announceSlow(func() func() { return a.loading(int(info.Size())) })
	defer loaded()
	granted, err := a.openCapabilities(ctx)
	if err != nil {
		return err
	}
	var onFault func(context.Context, *runtime.Fault)
	if a.cfg.Fault != nil {
		onFault = a.onFault
	}
	a.provider, err = a.host.Open(ctx, a.cfg.File, &runtime.Options{
		Name: a.name(), Version: a.cfg.ProviderVersion, Prefixes: a.cfg.Prefixes, HidePrincipal: a.cfg.HidePrincipal, Lazy: a.cfg.Lazy, Live: a.cfg.Live, Share: a.cfg.Share, Digest: a.cfg.Digest, Capabilities: []capability.Capability{granted}, Values: a.cfg.Grants.Config,
		Limits: a.cfg.Limits, ModuleLimits: a.cfg.ModuleLimits, Lifecycle: a.cfg.Lifecycle, Cache: a.cfg.Cache, Clock: a.cfg.Clock,
		ExposeErrors: a.cfg.ExposeErrors, Provenance: a.provenance(),
		Admit: a.cfg.Admit, OnCall: a.observe, OnFault: onFault, Record: a.cfg.Record, Engine: a.cfg.Engine, Compare: a.compare(), OnUngranted: a.ungranted, Logger: a.cfg.Logger,
	})
	if err != nil {
		return err
	}
	a.closers = append(a.closers, a.provider.Close)
	a.source = a.provider.Source()
	return nil
}

// name is the provider's in logs and among several: empty for that of its file.
func (a *App) name() string {
	if a.cfg.Name == "" && a.cfg.From.Repository != "" {
		return a.cfg.From.ShortName(a.cfg.File)
	}
	return a.cfg.Name
}

// Source returns what is served: the resources of the provider, or of all of them.
func (a *App) Source() resource.Source { return a.source }

// newServer makes a server for a.source.
func (a *App) newServer(opts runtime.ServerOptions) (*runtime.Server, error) {
	opts.Version = a.versionOf()
	opts.QueueTimeout, opts.MaxSlowReaders = a.cfg.Limits.Timeout, a.cfg.Limits.Calls/2
	return runtime.NewServer(a.source, &opts)
}

// versionOf returns the version of the server: with several providers that of wasmres, otherwise empty, for the
// provider's.
func (a *App) versionOf() string {
	if len(a.parts) > 0 {
		return a.cfg.Version
	}
	return ""
}

// Provider returns the provider; nil if there are several.
func (a *App) Provider() *runtime.Provider { return a.provider }

// Host returns the host on which guests run.
func (a *App) Host() *runtime.Host { return a.host }

// Call answers one MCP request as a client of revision 2025-11-25 receives it: see [runtime.Server.Call].
func (a *App) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	a.callOnce.Do(func() {
		a.calls, a.callErr = a.newServer(runtime.ServerOptions{Tools: a.cfg.Server.Tools}) // no logger: the caller gets its errors
	})
	if a.callErr != nil {
		return nil, a.callErr
	}
	return a.calls.Call(ctx, method, params)
}

func (a *App) observe(ctx context.Context, u runtime.Usage) {
	a.usageMu.Lock()
	a.usage = u
	a.usageMu.Unlock()
	if a.cfg.Used != nil {
		a.cfg.Used(u)
	}
	addFuel(ctx, u.Fuel)
}

// Usage returns what the last call of the provider used; zero before the first call, and for several providers.
func (a *App) Usage() runtime.Usage {
	a.usageMu.Lock()
	defer a.usageMu.Unlock()
	return a.usage
}

// Close closes everything that was opened, last first. It is idempotent. It waits for running calls, and at most a second
// for each capability.
func (a *App) Close() error {
	var errs []error
	if a.calls != nil {
		errs = append(errs, a.calls.Close())
	}
	for i := len(a.closers) - 1; i >= 0; i-- {
		errs = append(errs, a.closers[i]())
	}
	a.closers = nil
	return errors.Join(errs...)
}
