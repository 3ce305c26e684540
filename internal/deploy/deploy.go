package deploy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/blobs"
	"github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/turns"
	"github.com/wasmres/wasmres/runtime"
)

// Bounds of what is under way.
const (
	maxModule   = 64 << 20 // bytes
	maxUnderWay = 64       // versions of all tenants
	maxTenant   = 4        // of one tenant
	workers     = 2        // that work at the same time
	maxAttempts = 8        // of a change that meets others
	maxTries    = 4        // of a step that fails for want of the server's own means
)

// Errors of a Deployer, beside those of [tenant.Store.Apply] and of package blobs.
var (
	// ErrNoVersion says that there is no such version.
	ErrNoVersion = errors.New("there is no such version")
	// ErrState says that a version is not in a state for this.
	ErrState = errors.New("the version is in another state")
	// ErrStorage says that the modules of a tenant would exceed its plan.
	ErrStorage = errors.New("the modules of the tenant exceed its plan")
)

// Config configures a Deployer. Store, Blobs, Runtime and DataDir are required.
type Config struct {
	Store interface {
		Snapshot() *tenant.Snapshot
		Apply(ctx context.Context, c tenant.Change) (generation uint64, err error)
	}
	Blobs   *blobs.Store
	Runtime *runtime.Host // runs the trials; the caller closes it after the Deployer
	DataDir string        // of the server
	// Module gets the module that a reference names now; nil refuses references.
	Module func(ctx context.Context, reference string) (host.Module, error)
	// Meter begins to count what a trial uses; l has its process. Nil counts nothing.
	Meter func(of tenant.ProviderID, version int, l *runtime.Live) host.Meter
	// Share pays for the processor time of a tenant's versions until they serve. Nil charges no tenant.
	Share func(tenantID string) *runtime.Share
	// Ahead serves by a route that is about to be stored, and returns what serves by the stored one again if that fails. A rollback
	// calls it, so that clients do not wait for the disk; its caller does. Nil serves by what is stored alone.
	Ahead func(s *tenant.Snapshot, next *tenant.Route) (undo func())
	// Version of the program.
	Version string
	Logger  *slog.Logger     // nil discards
	Now     func() time.Time // nil is for [time.Now]
}

// A Deployer owns the versions that are under way. It is safe for concurrent use. The caller closes it.
type Deployer struct {
	// fixed at creation
	cfg    Config
	ctx    context.Context // ends in Close
	cancel context.CancelFunc
	line   *turns.Line   // has a slot for each version that is worked on
	tidied chan struct{} // asks for the removal of old versions; of capacity 1

	mu       sync.Mutex
	closed   bool
	underWay map[string]bool // names of versions with a goroutine
	work     sync.WaitGroup
}

// New makes a Deployer, which goes on with the versions that an earlier server has left under way.
func New(cfg Config) (*Deployer, error) {
	if cfg.Store == nil || cfg.Blobs == nil || cfg.Runtime == nil || cfg.DataDir == "" {
		return nil, errors.New("deploy: Store, Blobs, Runtime and DataDir are required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Ahead == nil {
		cfg.Ahead = func(*tenant.Snapshot, *tenant.Route) func() { return func() {} }
	}
	if cfg.Meter == nil {
		cfg.Meter = func(tenant.ProviderID, int, *runtime.Live) host.Meter {
			return host.Meter{Used: func(runtime.Usage) {}, UsedAgain: func(runtime.Usage) {}, Close: func() {}}
		}
	}
	d := &Deployer{cfg: cfg, line: turns.New(workers), tidied: make(chan struct{}, 1), underWay: map[string]bool{}}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	for _, all := range cfg.Store.Snapshot().Versions {
		for _, v := range all {
			if v.IsUnderWay() {
				cfg.Logger.Info("version resumed", attrs(v)...)
				d.start(v)
			}
		}
	}
	d.work.Go(d.tidy)
	d.wantTidy()
	return d, nil
}

// attrs are what the log says of a version.
func attrs(v *tenant.Version, more ...any) []any {
	return append([]any{"tenant", v.Tenant, "provider", v.Provider, "version", v.Number, "state", v.State}, more...)
}

// start has a goroutine own a version, unless one does.
func (d *Deployer) start(v *tenant.Version) {
	name := v.Name()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.underWay[name] {
		return
	}
	d.underWay[name] = true
	d.work.Go(func() {
		defer func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			delete(d.underWay, name)
		}()
		d.advance(v.ID(), v.Number)
	})
}

// Close stops the work on all versions: the next Deployer goes on from their last step. It is idempotent.
func (d *Deployer) Close() error {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.cancel()
	d.work.Wait()
	return nil
}

// change makes a change of one version, again if others come first, until it is made or does not fit any more. do returns the
// change for a snapshot; nil for none.
func (d *Deployer) change(ctx context.Context, do func(*tenant.Snapshot) (*tenant.Change, error)) error {
	for attempt := 1; ; attempt++ {
		s := d.cfg.Store.Snapshot()
		c, err := do(s)
		if err != nil || c == nil {
			return err
		}
		c.Base = s.Generation
		_, err = d.cfg.Store.Apply(ctx, *c)
		if !errors.Is(err, tenant.ErrConflict) || attempt == maxAttempts || ctx.Err() != nil {
			return err
		}
	}
}

// A place is a provider whose modules are deployed, with what bounds it.
type place struct {
	tenant   *tenant.Tenant
	provider *tenant.Provider
	plan     *tenant.Plan
	active   *tenant.Version // nil for none
	files    string          // folder below which the tenant has its files
}

// placeOf finds a provider.
func (d *Deployer) placeOf(s *tenant.Snapshot, id tenant.ProviderID) (*place, error) {
	t := s.Tenants[id.Tenant]
	if t == nil {
		return nil, fmt.Errorf("%w: there is no tenant %q", tenant.ErrInvalid, id.Tenant)
	}
	p := t.Provider(id.Provider)
	switch {
	case p == nil:
		return nil, fmt.Errorf("%w: there is no provider %q of %s: add it to the file of the tenant", tenant.ErrInvalid, id.Provider, id.Tenant)
	case p.Module != "":
		return nil, fmt.Errorf("%w: the provider %s has the module of a file, %s: remove the key module there, and its versions are deployed",
			tenant.ErrOwned, id, p.Module)
	}
	at := &place{tenant: t, provider: p, plan: s.PlanOf(t), files: tenant.FilesDir(d.cfg.DataDir, t.ID)}
	if r := s.Routes[id]; r != nil {
		at.active = s.VersionOf(id, r.Active)
	}
	return at, nil
}

// dataDir has the data of a tenant's providers.
func (d *Deployer) dataDir(tenantID string) string {
	return filepath.Join(d.cfg.DataDir, "tenants", tenantID)
}
