package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/inflight"
	"github.com/wasmres/wasmres/internal/mcp"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/provider"
	"github.com/wasmres/wasmres/internal/worker"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/admit"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/resource"
)

const (
	maxFile = 64 << 20 // bytes of a provider file
	maxPage = 1000     // entries of a list page
)

// Config says which provider to open and what it may do.
type Config struct {
	File   string        // path of the .wasm file
	Digest string        // that the file must have, as [Packed] gives it; empty for any
	Name   string        // of the provider among several; of no effect on one alone
	Grants policy.Policy // what the provider may touch; of its limits nothing counts
	// StandIn gives what the provider has in place of the services that were granted. Nil leaves it those.
	StandIn func(granted capability.Services) (capability.Services, error)
	// Denied is told of calls that the provider was not permitted, each different one once a minute at most, by many
	// goroutines at once. It must not block. Nil logs them.
	Denied func(Denial)
	// Loading is called when a module of size bytes takes a while to load, and what it returns when that has ended. Nil
	// logs it.
	Loading func(file string, size int) (end func())
	// Determinism has the provider see the same time and random numbers in every run. Nil is for the real ones.
	Determinism *runtime.Determinism
	Limits      runtime.Limits
	// Admission bounds the shape of the module. Zero fields take the default.
	Admission admit.Limits
	// Lifecycle is the most the provider is granted of what it asks for.
	Lifecycle abi.Lifecycle
	// Isolation is where guests run: IsolationProcess or IsolationInProcess. Empty means DefaultIsolation.
	Isolation string
	// CacheDir is a private folder for compiled modules. Empty keeps none beyond Close.
	CacheDir string
	// CacheOptional goes on without CacheDir when it cannot be used.
	CacheOptional bool
	// CacheSize bounds CacheDir, in bytes. Zero means 2 GiB.
	CacheSize int64
	// KeepResults answers reads from earlier ones where the provider says that it may: see [provider.Config].
	KeepResults bool
	Tools       bool // also offer the resources as tools
	// DataDir is a private folder for what providers keep. It is made when a provider is granted to keep something; then
	// it must not be empty.
	DataDir string
	// MaxSubscriptions is how many streams of changes may be open at once. 0 means 1,024.
	MaxSubscriptions int
	// MaxHTTPSessions is how many sessions of revisions before 2026-07-28 may be open at once over HTTP. 0 means 10,000.
	MaxHTTPSessions int
	// MaxPerAddress is how many of these sessions one client address may have. 0 means 1,000.
	MaxPerAddress int
	// HTTPSessionIdle is how long such a session may be without a request. 0 means 30 minutes.
	HTTPSessionIdle time.Duration
	// InFlight is how many bytes answers that clients have not read yet may take, each counted twice. 0 means
	// [inflight.Default].
	InFlight int64
	// MaxSubscribed is how many bytes the URIs of all subscriptions may take, each counted twice. 0 means 128 MiB.
	MaxSubscribed int
	// MaxConnections is how many connections may be open at once over HTTP. 0 means 10,000.
	MaxConnections int
	Version        string       // of wasmres
	Logger         *slog.Logger // nil discards

	among bool // it is one of several providers, and its flags carry its Name
}

// An App is one provider, ready to be looked at or served, or several that are served as one. Close releases it.
type App struct {
	cfg      Config
	workers  *worker.Runner // nil when guests run in this process
	modules  runtime.ModuleCache
	provider *provider.Provider // nil when there are several
	parts    []*App             // those
	reload   *reload            // nil when there is one for good
	source   resource.Source    // what is served
	about    identity
	core     *mcp.Core      // for Call
	watched  []string       // folders of the host in which changes count
	closers  []func() error // in the order things were opened
	usage    atomic.Pointer[runtime.Usage]
	denials  denials
}

// Open loads the provider. ctx bounds the loading.
func Open(ctx context.Context, cfg Config) (*App, error) {
	binary, err := readModule(cfg.File)
	if err != nil {
		return nil, err
	}
	if cfg.Digest != "" && digestOf(binary) != cfg.Digest {
		return nil, fmt.Errorf("%s has changed meanwhile", cfg.File)
	}
	a, err := newApp(cfg)
	if err != nil {
		return nil, err
	}
	loaded := announceSlow(func() func() { return a.loading(len(binary)) })
	err = a.openModule(ctx, binary)
	loaded()
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func newApp(cfg Config) (*App, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.Isolation = cmp.Or(cfg.Isolation, DefaultIsolation())
	if cfg.Isolation != IsolationProcess && cfg.Isolation != IsolationInProcess {
		return nil, fmt.Errorf("isolation is %q, expected %s or %s", cfg.Isolation, IsolationProcess, IsolationInProcess)
	}
	return &App{cfg: cfg}, nil
}

// openModule opens what the provider takes and then itself.
func (a *App) openModule(ctx context.Context, binary []byte) error {
	runner, err := a.openRunner()
	if err != nil {
		return err
	}
	services, err := a.services(ctx)
	if err != nil {
		return err
	}
	values, err := json.Marshal(configOf(a.cfg.Grants))
	if err != nil {
		return err
	}
	a.provider, err = provider.Open(ctx, provider.Config{
		Runtime: runtime.Config{
			Runner: runner, Limits: a.cfg.Limits, Admission: a.cfg.Admission, Lifecycle: a.cfg.Lifecycle, Services: services, Ungranted: a.ungranted, Config: string(values), Determinism: a.cfg.Determinism,
			Observe: a.observe, ModuleCache: a.modules,
			Symbols: a.symbols, Logger: a.cfg.Logger,
		},
		PageSize: pageSize(a.cfg.Limits), KeepResults: a.cfg.KeepResults, Feeds: a.feeds(), Logger: a.cfg.Logger,
	}, binary)
	if err != nil {
		return fmt.Errorf("%s: %w", a.cfg.File, err)
	}
	a.closers = append(a.closers, a.provider.Close)
	a.probe() // what it finds was found when the provider was opened
	a.source, a.about = a.provider, identityOf(a.provider.Module().Manifest())
	a.core, err = a.newCore(nil, nil, nil) // its failures are returned to the caller, who says them
	return err
}

// pageSize is the entries of a list page: as many as are allowed, but no more than clients like to get at once.
func pageSize(l limits.Limits) int {
	return min(maxPage, cmp.Or(l.Items, limits.DefaultItems))
}

func (a *App) newCore(logger *slog.Logger, budget *inflight.Budget, uris *mcp.URIs) (*mcp.Core, error) {
	about := a.identity()
	return mcp.New(mcp.Config{
		Source: a.source, Name: about.name, Title: about.title, Version: about.version, Instructions: about.instructions,
		Tools: a.cfg.Tools, MaxSubscriptions: a.cfg.MaxSubscriptions, Logger: logger,
		InFlight: budget, URIs: uris, Patience: a.cfg.Limits.Timeout, SlowReaders: a.cfg.Limits.Calls / 2,
	})
}

// versionOf is the provider's version, which clients must be told even if there is none.
func versionOf(m *abi.Manifest) string { return cmp.Or(m.Version, "0") }

// readModule reads a provider file without trusting its size.
func readModule(file string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", file)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s has %d bytes, a provider has at most %d", file, info.Size(), maxFile)
	}
	return os.ReadFile(file)
}

// Provider is the provider, to be looked at; nil when there are several.
func (a *App) Provider() *provider.Provider { return a.provider }

// Call answers one MCP request as a client of revision 2025-11-25 would get it. A failure of the provider has an
// [abi.Error] in its chain, whose message is empty when nobody gave words of their own.
func (a *App) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	text, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	defer a.core.AfterResponse()
	result, failed := a.core.Call(ctx, &mcp.Call{Method: method, Params: text, Revision: mcp.Revision20251125})
	if failed != nil {
		return nil, failed
	}
	return result, nil
}

func (a *App) observe(ctx context.Context, u runtime.Usage) {
	a.usage.Store(&u)
	burn(ctx, u.Fuel)
}

// Usage is what the last call of the provider used; zero when there was none, or are several providers.
func (a *App) Usage() runtime.Usage {
	if u := a.usage.Load(); u != nil {
		return *u
	}
	return runtime.Usage{}
}

// Close releases everything that was opened, last first. It is idempotent. It waits for running calls, and for each
// capability no longer than closeTime.
func (a *App) Close() error {
	var errs []error
	for i := len(a.closers) - 1; i >= 0; i-- {
		errs = append(errs, a.closers[i]())
	}
	a.closers = nil
	return errors.Join(errs...)
}
