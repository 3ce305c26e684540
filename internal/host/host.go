package host

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/internal/quota"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/throttle"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/accesslog"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/capability/secret"
	"github.com/wasmres/wasmres/runtime/trace"
)

// Defaults of Config.
const (
	defaultIdle  = 15 * time.Minute
	openTime     = 2 * time.Minute // to load the providers of a tenant, compiling included
	defaultWait  = 20 * time.Second
	settleTime   = 2 * time.Second // for requests that have found a server before it became cold
	maxPathBytes = 256             // of a path that can be that of a tenant
)

// Clients tell who sends a request to a tenant.
type Clients interface {
	// Update makes a snapshot the present one. It is called before any tenant of it is served.
	Update(*tenant.Snapshot)
	// Authenticator returns that of a tenant's clients. It follows later updates.
	Authenticator(tenantID string) auth.Authenticator
}

// A Module is a module on disk, for a reference.
type Module struct {
	File    string
	Digest  string             // of the file
	From    approval.Published // to its repository the data of the provider belong
	Release func()             // lets go of the file; it is called when the provider is closed; nil for nothing
}

// A Meter counts what one open provider uses.
type Meter struct {
	Used      func(runtime.Usage) // gets what each call has used, from many goroutines at once; it must not block
	UsedAgain func(runtime.Usage) // likewise, what each second run of a call has used
	Close     func()              // is called when the provider is closed
}

// Config configures a Host. Clients, Quotas, Runtime and DataDir are required.
type Config struct {
	Clients Clients
	Quotas  *quota.Book   // bounds what tenants use
	Runtime *runtime.Host // runs all guests; the caller closes it after the Host
	// DataDir has a folder for each tenant's data.
	DataDir string
	// Metadata returns what a tenant says of its endpoint at a host, or, if that is empty, at its path, for clients that sign in at
	// an issuer (RFC 9728). It returns nil if the tenant accepts no tokens. Nil is for no tenant.
	Metadata func(tenantID, host string) []byte
	// Module gets the module of a reference; nil refuses references.
	Module func(ctx context.Context, reference string) (Module, error)
	// Given is Module for a reference of a tenant that the API owns; nil refuses those.
	Given func(ctx context.Context, reference string) (Module, error)
	// Blob gets the module of a version by its digest; nil refuses versions. It does not block for long. Of the Module it
	// gives File and Release.
	Blob func(digest string) (Module, error)
	// CanaryFailed gets each version on trial that the Host has taken back: its clients are at the active version already, and
	// stay there until the snapshot has another canary. It may take its time; Close waits for it. Nil discards.
	CanaryFailed func(id tenant.ProviderID, version int, reason string)
	// Secret opens a sealed secret of a tenant; nil refuses them.
	Secret func(tenantID, name string) (secret.Value, error)
	// AllowedHosts are the names by which clients may reach every tenant, beside the tenants' own.
	AllowedHosts []string
	// AccessLog gets an entry for each request of a tenant. It must not block. Nil discards.
	AccessLog func(tenantID string, e accesslog.Entry)
	// Tracer gives what traces the requests of a tenant. Nil traces none.
	Tracer func(tenantID string) trace.Tracer
	// Audit gets an entry for each request of a tenant whose plan says so. It must not block. Nil discards.
	Audit func(tenantID string, e accesslog.Entry)
	// IsUnrecorded reports whether requests are to be refused, since no record of them could be kept. It must not block. Nil refuses
	// none.
	IsUnrecorded func() bool
	// Limited gets each limit that refused something of a tenant. It must not block. Nil discards.
	Limited func(tenantID, limit string)
	// Logs returns a handler that gets what a provider logs before the next one does. Nil is that one.
	Logs func(of tenant.ProviderID, next slog.Handler) slog.Handler
	// Crashed gets each call that failed by a fault of a provider; keepURI says whether its URI may be kept beyond a recorded
	// session. It must not block. Nil discards.
	Crashed func(of tenant.ProviderID, f *app.Fault, keepURI bool)
	// Differed gets each call of a provider that ended in another way on the other engine; keepURI is that of Crashed. The call has a
	// session only if the tenant's file has record_crashes. It must not block. Nil discards.
	Differed func(of tenant.ProviderID, d *app.Difference, keepURI bool)
	// NotCompared gets the code of each failure of a second run on the other engine, which shows nothing of the engines. It must not
	// block. Nil discards.
	NotCompared func(code abi.Code)
	// Processors makes calls of tenants wait for processors, by the weights of their plans. Nil makes none wait.
	Processors *runtime.Processors
	// Meter begins to count what a provider uses that is being opened; version is 0 for one with a module. l has its processes.
	// Nil counts nothing.
	Meter func(of tenant.ProviderID, version int, l *runtime.Live) Meter
	// Asked gets each call of a provider to a capability, and how it ended. It must not block. Nil discards.
	Asked func(of tenant.ProviderID, capability string, code abi.Code)
	// Denied gets calls of capabilities that a policy does not allow, each different one at most once a minute, after they
	// were logged. It must not block. Nil discards.
	Denied func(of tenant.ProviderID, d app.Denial)
	// MaxStreams is how many streams of changes the clients of all tenants may have at once. Zero has no bound.
	MaxStreams int
	// Idle is for how long a tenant stays open without a request. Zero means 15 minutes.
	Idle time.Duration
	// OpenWait is for how long a request waits until its tenant is open. Then it fails, with the time to retry after, and the
	// opening goes on. Zero means 20 seconds.
	OpenWait time.Duration
	// Version of the program, for clients.
	Version string
	Logger  *slog.Logger // nil discards
}

// A Host is a [runtime.Router] of tenants. It is safe for concurrent use. The caller closes it.
type Host struct {
	// fixed at creation
	cfg       Config
	ctx       context.Context // ends in Close
	cancel    context.CancelFunc
	strangers *throttle.Log // clients without a good credential that ask for a cold tenant
	streams   streams
	leftOut   *throttle.Log // records of tenants that have too many
	shadows   shadows

	close func() error // works once

	routes atomic.Pointer[routes]
	work   sync.WaitGroup // goroutines of the Host

	mu     sync.Mutex // held by Update and Close
	closed bool
	served *tenant.Snapshot
}

// routes are the tenants of one snapshot. They are immutable.
type routes struct {
	byID   map[string]*route
	byHost map[string]*route
	gone   map[string]time.Time
}

// New makes a Host without tenants.
func New(cfg Config) (*Host, error) {
	if cfg.Clients == nil || cfg.Quotas == nil || cfg.Runtime == nil || cfg.DataDir == "" {
		return nil, errors.New("host: Clients, Quotas, Runtime and DataDir are required")
	}
	if cfg.Idle == 0 {
		cfg.Idle = defaultIdle
	}
	if cfg.OpenWait == 0 {
		cfg.OpenWait = defaultWait
	}
	if cfg.Metadata == nil {
		cfg.Metadata = func(string, string) []byte { return nil }
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.AccessLog == nil {
		cfg.AccessLog = func(string, accesslog.Entry) {}
	}
	if cfg.Tracer == nil {
		cfg.Tracer = func(string) trace.Tracer { return nil }
	}
	if cfg.Audit == nil {
		cfg.Audit = func(string, accesslog.Entry) {}
	}
	if cfg.IsUnrecorded == nil {
		cfg.IsUnrecorded = func() bool { return false }
	}
	if cfg.Limited == nil {
		cfg.Limited = func(string, string) {}
	}
	if cfg.Logs == nil {
		cfg.Logs = func(_ tenant.ProviderID, next slog.Handler) slog.Handler { return next }
	}
	if cfg.Crashed == nil {
		cfg.Crashed = func(tenant.ProviderID, *app.Fault, bool) {}
	}
	if cfg.Differed == nil {
		cfg.Differed = func(tenant.ProviderID, *app.Difference, bool) {}
	}
	if cfg.NotCompared == nil {
		cfg.NotCompared = func(abi.Code) {}
	}
	if cfg.Meter == nil {
		cfg.Meter = func(tenant.ProviderID, int, *runtime.Live) Meter {
			return Meter{func(runtime.Usage) {}, func(runtime.Usage) {}, func() {}}
		}
	}
	if cfg.Asked == nil {
		cfg.Asked = func(tenant.ProviderID, string, abi.Code) {}
	}
	if cfg.Denied == nil {
		cfg.Denied = func(tenant.ProviderID, app.Denial) {}
	}
	if cfg.CanaryFailed == nil {
		cfg.CanaryFailed = func(tenant.ProviderID, int, string) {}
	}
	h := &Host{cfg: cfg, strangers: throttle.New(cfg.Logger), leftOut: throttle.New(cfg.Logger), served: &tenant.Snapshot{}}
	h.streams.most = int64(cfg.MaxStreams)
	var err error
	if h.shadows, err = newShadows(); err != nil {
		return nil, err
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.routes.Store(&routes{})
	h.close = sync.OnceValue(h.release)
	h.work.Go(h.closeUnused)
	return h, nil
}

// Ahead serves a provider by a route that is about to be stored, so that no client waits for the disk, and returns a function that
// serves by the newest snapshot again, for a route that was not stored. s is the snapshot that the route was made for; if that is
// not the one served, Ahead does nothing.
func (h *Host) Ahead(s *tenant.Snapshot, next *tenant.Route) (undo func()) {
	id := next.Tenant
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.Generation == h.served.Generation {
		ahead := *s
		if ahead.Routes = maps.Clone(s.Routes); ahead.Routes == nil {
			ahead.Routes = map[tenant.ProviderID]*tenant.Route{}
		}
		ahead.Routes[next.ID()] = next
		h.setLocked(&ahead, id)
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.setLocked(h.served, id)
	}
}

// setLocked serves a tenant as a snapshot says. The caller holds mu.
func (h *Host) setLocked(s *tenant.Snapshot, id string) {
	if r, t := h.routes.Load().byID[id], s.Tenants[id]; !h.closed && r != nil && t != nil {
		r.set(settingsOf(s, t))
	}
}

// Update serves the tenants of a snapshot from now on. It does not wait for providers of tenants that change: until those
// are open, the earlier ones serve. A snapshot of an earlier generation than the one served is ignored: of two callers that
// have each read one, either may call first.
func (h *Host) Update(s *tenant.Snapshot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || s.Generation < h.served.Generation {
		return
	}
	before := h.served
	h.served = s
	h.cfg.Clients.Update(s)
	old := h.routes.Load()
	next := &routes{byID: old.byID, byHost: old.byHost, gone: s.Gone}
	var gone []*route
	isOwned := false // byID may be changed
	for _, id := range s.ChangedSince(before) {
		t, r := s.Tenants[id], old.byID[id]
		if (t == nil) != (r == nil) && !isOwned {
			next.byID, isOwned = make(map[string]*route, len(s.Tenants)), true
			maps.Copy(next.byID, old.byID)
		}
		switch {
		case t == nil && r == nil:
		case t == nil:
			delete(next.byID, id)
			gone = append(gone, r)
		case r == nil:
			r = newRoute(h, id)
			r.set(settingsOf(s, t))
			next.byID[id] = r
		case !r.is.Load().isOf(s, t):
			r.set(settingsOf(s, t))
		}
	}
	if !tenant.IsSameMap(s.Hosts, before.Hosts) {
		next.byHost = make(map[string]*route, len(s.Hosts))
		for name, t := range s.Hosts {
			next.byHost[name] = next.byID[t.ID]
		}
	}
	h.routes.Store(next)
	for _, r := range gone {
		r.set(&settings{})
	}
}

// Find implements [runtime.Router]. A tenant that is cold has no server: ServeHTTP opens it.
func (h *Host) Find(host, path []byte) *runtime.Server {
	r := h.routes.Load().find(host, path)
	if r == nil {
		return nil
	}
	return r.server.Load()
}

const (
	tenantPrefix = "/t/"
	endpointPath = "/mcp"
)

// find returns the tenant of a request; nil for none. It does not allocate where host is in lower case.
func (rs *routes) find(host, path []byte) *route {
	if string(path) == endpointPath {
		return rs.byHost[string(nameOf(host))]
	}
	id, ok := bytes.CutPrefix(path, []byte(tenantPrefix))
	if !ok || len(path) > maxPathBytes {
		return nil
	}
	if id, ok = bytes.CutSuffix(id, []byte(endpointPath)); !ok {
		return nil
	}
	return rs.byID[string(id)]
}

// nameOf returns the name in a header Host, in lower case and without port.
func nameOf(host []byte) []byte {
	if colon := bytes.LastIndexByte(host, ':'); colon >= 0 && bytes.IndexByte(host, ']') < colon {
		host = host[:colon]
	}
	for _, c := range host {
		if 'A' <= c && c <= 'Z' {
			return bytes.ToLower(host)
		}
	}
	return host
}

// idOf returns the ID in the path of a tenant's endpoint.
func idOf(path string) (id string, ok bool) {
	id, ok = strings.CutPrefix(path, tenantPrefix)
	if ok && len(path) <= maxPathBytes {
		id, ok = strings.CutSuffix(id, endpointPath)
	}
	if !ok || strings.Contains(id, "/") {
		return "", false
	}
	return id, true
}

// EndStreams ends the streams of all tenants that are open, with their result. It does not wait for that. [runtime.Serve] calls it
// when another process serves the tenants from now on.
func (h *Host) EndStreams() {
	for _, r := range h.routes.Load().byID {
		if s := r.server.Load(); s != nil {
			s.EndStreams()
		}
	}
}

// Close ends the streams and sessions of all tenants, and closes their providers. Requests that begin later are refused. It
// is idempotent: each call returns when all is closed.
func (h *Host) Close() error { return h.close() }

func (h *Host) release() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	var last []*open
	for _, r := range h.routes.Load().byID {
		if o := r.end(); o != nil {
			last = append(last, o)
		}
	}
	// The clients of all tenants are told first: then the ends of thousands of processes have the processors for seconds.
	err := eachOpen(last, func(o *open) error { return o.server.Close() })
	err = errors.Join(err, eachOpen(last, func(o *open) error { return o.source.Close() }))
	h.work.Wait()
	h.strangers.Close()
	h.leftOut.Close()
	return err
}

// eachOpen calls f for all open tenants at the same time.
func eachOpen(all []*open, f func(*open) error) error {
	errs := make([]error, len(all))
	var calls sync.WaitGroup
	for i, o := range all {
		calls.Go(func() { errs[i] = f(o) })
	}
	calls.Wait()
	return errors.Join(errs...)
}

// closeUnused makes tenants cold that are not used, until the Host is closed.
func (h *Host) closeUnused() {
	tick := time.NewTicker(min(time.Minute, h.cfg.Idle/2+time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case now := <-tick.C:
			for _, r := range h.routes.Load().byID {
				r.closeIfUnused(now)
			}
		}
	}
}
