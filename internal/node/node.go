package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/acme"
	"github.com/wasmres/wasmres/internal/crashes"
	"github.com/wasmres/wasmres/internal/guestlog"
	"github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/oauth"
	"github.com/wasmres/wasmres/internal/quota"
	"github.com/wasmres/wasmres/internal/takeover"
	"github.com/wasmres/wasmres/internal/telemetry"
	"github.com/wasmres/wasmres/internal/telemetry/traces"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/bearer"
	"github.com/wasmres/wasmres/internal/tenant/certs"
	"github.com/wasmres/wasmres/internal/tenant/keys"
	"github.com/wasmres/wasmres/internal/tenant/sealed"
	"github.com/wasmres/wasmres/internal/tenant/store"
	"github.com/wasmres/wasmres/internal/usage"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/accesslog"
	"github.com/wasmres/wasmres/runtime/auth"
)

// Config says which server to run. Settings is required.
type Config struct {
	Settings *tenant.Settings
	// Read reads the settings again, as they were first read. Nil keeps them.
	Read func() (*tenant.Settings, error)
	// CacheDir is a private folder for compiled modules; empty for one in the data folder.
	CacheDir string
	// Module gets the module of a reference; nil refuses references.
	Module func(ctx context.Context, reference string) (host.Module, error)
	// Given is Module for a reference that the API was given; nil refuses those.
	Given func(ctx context.Context, reference string) (host.Module, error)
	// Pull gets the module that a reference names in its registry now, for a version; nil refuses references of versions.
	Pull func(ctx context.Context, reference string) (host.Module, error)
	// AccessLog gets an entry for each request of a tenant. It must not block. Nil discards.
	AccessLog func(accesslog.Entry)
	// Endpoints are the URLs of clients, for operators.
	Endpoints []string
	Version   string
	// Sockets has the sockets of an earlier server, which this one takes over; nil for none. It gets those that are opened.
	Sockets *takeover.Sockets
	// Takeover hands the server to a process of an operator, at the other end of a connection; nil refuses that.
	Takeover func(conn *net.UnixConn, operator string)
	// Changed is called after each change of what is served, and after each reading of files but the first. It must not block for
	// long. Nil calls nothing.
	Changed func()
	Now     func() time.Time // gives the time at which keys expire; nil is for [time.Now]
	Logger  *slog.Logger     // nil discards
}

// A Node is a server of tenants. It is safe for concurrent use. The caller closes it.
type Node struct {
	// fixed at creation
	cfg     Config
	ctx     context.Context // ends when Close begins
	cancel  context.CancelFunc
	began   time.Time
	store   *store.Store
	ledger  *ledger.Ledger
	clock   *clock
	quotas  *quota.Book
	usage   *usage.Book
	keys    *keys.Set
	issuers *oauth.Verifier
	bearers *bearer.Set
	certs   *certs.Set
	seals   *sealed.Keeper
	live    *runtime.Live
	split   split

	connections *runtime.Connections // nil where the limit of descriptors is unknown
	engine      *runtime.Host

	processors *runtime.Processors

	host    *host.Host
	crashes *crashes.Store
	logs    *guestlog.Book
	metrics *telemetry.Metrics
	traces  *traces.Traces // nil for none

	deployment // fixed at creation

	certificates certificates
	managed      atomic.Pointer[acme.Manager] // nil for none

	settings atomic.Pointer[tenant.Settings]
	refused  refused
	draining atomic.Bool

	reloading sync.Mutex // held while files are read
	reader    tenant.Reader
	unread    atomic.Pointer[error] // why the last reading of files has changed nothing; nil if it has not failed
	policies  []string              // files that tenants name; guarded by reloading

	writing     context.Context // ends when Release begins
	stopWriters context.CancelFunc
	writers     sync.WaitGroup // that write into the files which Release closes
	released    atomic.Bool    // set under reloading
	releaseOnce sync.Once
	releaseErr  error

	differences *differences // fixed at creation

	crashedMu   sync.Mutex
	crashedLate []crashes.Report // since Release; guarded by crashedMu

	closeOnce sync.Once
	closeErr  error
}

// Open opens the store, reads the files of all tenants, and makes them ready to be served. It starts no provider. A tenant
// whose files are wrong is no error: see [Report].
func Open(ctx context.Context, cfg Config) (*Node, *Report, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Changed == nil {
		cfg.Changed = func() {}
	}
	n := &Node{cfg: cfg, began: time.Now(), differences: newDifferences()}
	if n.cfg.Sockets == nil {
		n.cfg.Sockets = &takeover.Sockets{}
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.writing, n.stopWriters = context.WithCancel(n.ctx)
	n.settings.Store(cfg.Settings)
	report, err := n.open(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, n.Close())
	}
	return n, report, nil
}

func (n *Node) open(ctx context.Context) (_ *Report, err error) {
	s := n.cfg.Settings
	if err := os.MkdirAll(s.Data, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of data: %w", err)
	}
	if n.traces, err = openTraces(&s.Traces, n.cfg); err != nil {
		return nil, err
	}
	n.metrics = telemetry.New(telemetry.Config{State: n.state, Version: n.cfg.Version})
	if err := n.openStore(ctx, s.Data); err != nil {
		return nil, err
	}
	if n.seals, err = sealed.Open(s.SecretsKey, n, n.clock.now); err != nil {
		return nil, err
	}
	n.keys = keys.NewSet(keys.Config{Now: n.clock.now, FirstUse: n.recordUse, Refused: n.refused.add, Decided: n.decided})
	n.issuers = oauth.New(oauth.Config{Now: n.clock.now, Logger: n.cfg.Logger})
	n.bearers = bearer.New(bearer.Config{
		Keys: n.keys, Verifier: n.issuers, ServerURL: s.ServerURL(), Secret: n.seals.Secret, Logger: n.cfg.Logger,
		Decided: func(err error) { n.decided("oauth", err) },
	})
	n.certs = certs.New(certs.Config{
		Others: n.bearers, Keys: n.keys, Now: n.clock.now, Logger: n.cfg.Logger, Decided: func(err error) { n.decided("certificate", err) },
	})
	cache := n.cfg.CacheDir
	if cache == "" {
		cache = filepath.Join(s.Data, "cache")
	}
	n.split = splitOf(len(s.Listen))
	if n.split.shared > 0 {
		n.connections = runtime.NewConnections(n.split.shared, n.cfg.Logger)
	}
	n.live, err = runtime.NewLive(runtime.LiveConfig{
		Connections: n.connections,
		Max:         n.split.capacity.Providers, Memory: cmp.Or(s.LiveMemory, n.split.memory), OnStart: n.metrics.Started,
		OnEnd: func(why runtime.LiveEnd) { n.metrics.WorkerEnded(string(why)) },
	})
	if err != nil {
		return nil, err
	}
	n.processors, err = runtime.NewProcessors(runtime.ProcessorsConfig{
		Calls: s.Processors.Calls, Waiting: s.Processors.Waiting, WaitingOfShare: s.Processors.WaitingPerTenant, OnWait: n.metrics.Queued,
	})
	if err != nil {
		return nil, err
	}
	n.engine, err = runtime.NewHost(runtime.HostConfig{
		CacheDir: cache, Idle: s.Idle, MaxStarts: 2 * goruntime.GOMAXPROCS(0), MaxCompiles: 2, MaxOpenings: n.split.openings, Standby: s.StandbyWorkers, Live: n.live, Logger: n.cfg.Logger,
	})
	if err != nil {
		return nil, err
	}
	if n.quotas, err = quota.OpenBook(quota.Config{File: filepath.Join(s.Data, "usage.json"), Now: n.cfg.Now, Logger: n.cfg.Logger}); err != nil {
		return nil, err
	}
	if n.logs, err = guestlog.Open(guestlog.Config{Dir: s.Data, MaxFile: n.logBytes, Logger: n.cfg.Logger}); err != nil {
		return nil, err
	}
	if n.crashes, err = crashes.Open(crashes.Config{Dir: s.Data, Logger: n.cfg.Logger}); err != nil {
		return nil, err
	}
	if err := n.openBlobs(s.Data); err != nil {
		return nil, err
	}
	if n.usage, err = usage.Open(ctx, usage.Config{File: filepath.Join(s.Data, UsageFile), Logger: n.cfg.Logger}); err != nil {
		return nil, err
	}
	n.host, err = host.New(host.Config{
		MaxStreams: n.split.streams, Secret: n.seals.Secret, Clients: n.certs, Metadata: n.bearers.Metadata, Quotas: n.quotas, Runtime: n.engine, DataDir: s.Data, Module: n.cfg.Module, Given: n.cfg.Given, Blob: n.blob, AllowedHosts: allowedHosts(s),
		AccessLog: n.observe, Audit: n.recordRead, IsUnrecorded: n.isUnrecorded, Tracer: n.tracer(), Meter: n.meter, Processors: n.processors, CanaryFailed: n.canaryFailed, Asked: n.asked, Denied: n.recordDenial, Crashed: n.crashed, Differed: n.differed, NotCompared: n.metrics.NotCompared, Logs: n.guestLogs, Limited: n.metrics.Limited, Version: n.cfg.Version, Logger: n.cfg.Logger,
	})
	if err != nil {
		return nil, err
	}
	r, err := n.reload(ctx, s)
	debug.FreeOSMemory() // a first reading of thousands of files leaves as much garbage as it keeps
	if err != nil {
		return nil, err
	}
	return r, n.startDeployer(s.Data)
}

// openStore opens the store with its ledger, which records each change before it is in force.
func (n *Node) openStore(ctx context.Context, data string) (err error) {
	var record recorder
	if n.store, err = store.Open(ctx, store.Config{Dir: data, Record: &record, Committed: n.metrics.Committed, Logger: n.cfg.Logger}); err != nil {
		return err
	}
	n.ledger, err = ledger.Open(ledger.Config{
		Dir: filepath.Join(data, "ledger"), KeyFile: filepath.Join(data, "node.key"), Logger: n.cfg.Logger,
	})
	if err != nil {
		return err
	}
	record.ledger.Store(n.ledger)
	n.recordStart()
	return n.openClock(data)
}

// observe counts a request of a tenant, and logs it.
func (n *Node) observe(tenantID string, e accesslog.Entry) {
	n.usage.Request(tenantID, outcomeOf(e.Code), e.Bytes)
	n.metrics.Observe(tenantID, e)
	if n.cfg.AccessLog != nil {
		e.Tenant = tenantID
		n.cfg.AccessLog(e)
	}
}

// AsksForCertificates reports whether a tenant accepts certificates of clients, so that listeners must ask for them by TLS.
func (n *Node) AsksForCertificates() bool { return n.certs.Asks() }

// Capacity says for how many live providers the machine has room, and what bounds them; zero if unknown.
func (n *Node) Capacity() runtime.CapacityBound { return n.split.capacity }

// Settings returns those in force.
func (n *Node) Settings() *tenant.Settings { return n.settings.Load() }

// Snapshot implements [admin.Host].
func (n *Node) Snapshot() *tenant.Snapshot { return n.store.Snapshot() }

// decided counts a decision on the credential of a client.
func (n *Node) decided(credential string, err error) {
	n.metrics.Authenticated(credential, outcomeOfAuth(err))
}

func outcomeOfAuth(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, auth.ErrMissing):
		return "missing"
	case errors.Is(err, auth.ErrDenied):
		return "denied"
	case errors.As(err, new(*auth.TooManyError)):
		return "limited"
	case errors.Is(err, auth.ErrInvalid):
		return "invalid"
	}
	return "unavailable"
}

// asked counts a call of a capability.
func (n *Node) asked(of tenant.ProviderID, capability string, code abi.Code) {
	n.metrics.Asked(of.Tenant, capability, code)
}

// allowedHosts are the names by which clients may reach every tenant.
func allowedHosts(s *tenant.Settings) []string {
	names := slices.Clone(s.AllowedHosts)
	if host := publicHost(s.PublicURL); host != "" {
		names = append(names, host)
	}
	return names
}

// Serve serves tenants on a listener until ctx ends. Then it closes the tenants: requests under way have five seconds.
// Clients may use the descriptors that live providers do not use, and give idle ones back when a provider starts.
func (n *Node) Serve(ctx context.Context, l net.Listener, opts *runtime.TransportOptions) error {
	var o runtime.TransportOptions
	if opts != nil {
		o = *opts
	}
	o.Connections = n.connections
	o.TrustedProxies = n.cfg.Settings.TrustedProxies
	return runtime.Serve(ctx, l, n.host, &o)
}

// Close ends the server. It is idempotent.
func (n *Node) Close() error {
	n.closeOnce.Do(func() {
		var errs []error
		n.cancel()
		if n.deployer != nil {
			errs = append(errs, n.deployer.Close())
		}
		if n.host != nil {
			errs = append(errs, n.host.Close())
		}
		if n.engine != nil {
			errs = append(errs, n.engine.Close())
		}
		if n.logs != nil {
			errs = append(errs, n.logs.Close())
		}
		n.closeTraces()
		if n.certs != nil {
			errs = append(errs, n.certs.Close())
		}
		if n.bearers != nil {
			errs = append(errs, n.bearers.Close())
		}
		if n.issuers != nil {
			errs = append(errs, n.issuers.Close())
		}
		if n.keys != nil {
			errs = append(errs, n.keys.Close())
		}
		end := ledger.Entry{Actor: "server", Action: "server.end"}
		n.releaseOnce.Do(func() { n.releaseErr = n.closeFiles(end) })
		if n.released.Load() {
			n.noteRefused()
			n.ledger.Note(end)
		} else {
			errs = append(errs, n.releaseErr)
		}
		n.closeErr = errors.Join(errs...)
	})
	return n.closeErr
}
