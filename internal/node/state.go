package node

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/acme"
	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/telemetry"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime"
)

var (
	_ admin.Host = (*Node)(nil)
	_ admin.Keys = (*Node)(nil)
)

// Node implements [admin.Host].
func (n *Node) Node() admin.Node {
	live := n.live.Stats()
	return admin.Node{
		Version: n.cfg.Version, Started: n.began, Endpoints: n.cfg.Endpoints, Generation: n.store.Snapshot().Generation,
		NotReadyFor: n.NotReady(), Problems: n.Problems(), Live: live.Live, LiveBytes: bytesOf(live),
		Capacity: n.split.capacity.Providers, CapacityBy: n.split.capacity.Name,
	}
}

// NotReady says why the server takes no clients; nil if it does.
func (n *Node) NotReady() []string {
	if n.draining.Load() {
		return []string{"the server is ending"}
	}
	return nil
}

// bytesOf returns the memory of processes.
func bytesOf(s runtime.LiveStats) uint64 { return uint64(max(s.Memory, 0)) }

// Live implements [admin.Host].
func (n *Node) Live(tenantID string) (processes int, memory uint64) {
	s := n.host.Live(tenantID)
	return s.Live + s.Starting, bytesOf(s)
}

// States implements [admin.Host].
func (n *Node) States(tenantID string) map[string]admin.State {
	states := map[string]admin.State{}
	for name, s := range n.host.States(tenantID) {
		states[name] = admin.State{Name: s.Name, Reason: s.Reason, Processes: s.Processes, Memory: uint64(max(s.Memory, 0)), LastStart: s.LastStart}
	}
	return states
}

// Wake implements [admin.Host].
func (n *Node) Wake(ctx context.Context, id tenant.ProviderID) error { return n.host.Wake(ctx, id) }

// Stop implements [admin.Host].
func (n *Node) Stop(id tenant.ProviderID) int { return n.host.Stop(id) }

// Top implements [admin.Host].
func (n *Node) Top(most int) []admin.Load {
	snapshot := n.store.Snapshot()
	var loads []admin.Load
	for _, l := range n.metrics.Loads(most) {
		one := admin.Load{
			Tenant: l.Tenant, PerSecond: l.PerSecond, P99Micros: l.P99.Microseconds(), Limited: l.Limited, Faults: l.Faults,
		}
		one.Live, one.Bytes = n.Live(l.Tenant)
		one.Waiting = n.host.Waiting(l.Tenant)
		if t := snapshot.Tenants[l.Tenant]; t != nil {
			one.Providers = len(t.Providers)
		}
		loads = append(loads, one)
	}
	return loads
}

// Reload implements [admin.Host].
func (n *Node) Reload(ctx context.Context) (admin.Report, error) {
	r, err := n.Reread(ctx)
	if err != nil {
		return admin.Report{}, err
	}
	if !r.IsEmpty() {
		n.cfg.Logger.Info("configuration read", "tenants", r.Tenants, "new", len(r.Added), "changed", len(r.Changed), "removed", len(r.Removed),
			"wrong", len(r.Problems), "generation", r.Generation, "took", r.Took)
	}
	return admin.Report{
		Generation: r.Generation, Tenants: r.Tenants, Set: slices.Sorted(slices.Values(slices.Concat(r.Added, r.Changed))),
		Removed: r.Removed, Problems: r.Problems, Restart: r.Restart, TookMillis: int64((r.Took + time.Millisecond - 1) / time.Millisecond),
	}, nil
}

// state is what a scrape of the metrics gets.
func (n *Node) state() telemetry.State {
	snapshot, live := n.store.Snapshot(), n.live.Stats()
	all := 0
	for _, t := range snapshot.Tenants {
		all += len(t.Providers)
	}
	processors := n.processors.Stats()
	listening, ofSessions := n.host.Streams()
	return telemetry.State{
		Streams: map[string]int{"2026-07-28": listening, "sessions": ofSessions}, LedgerLag: n.ledger.Lag(), Expiry: n.expiry(), Spans: n.spans(),
		Generation: snapshot.Generation, Stale: len(snapshot.Problems), Canaries: canariesIn(snapshot), LiveBytes: bytesOf(live),
		Running: processors.Running, Waiting: processors.Waiting,
		Providers: map[string]int{"live": live.Live, "starting": live.Starting, "cold": max(all-live.Live-live.Starting, 0)},
	}
}

// certificates are those that clients and operators see.
type certificates struct {
	mu   sync.Mutex
	list []Expiring
}

// Expiring is what has certificates. Expiry gives when the first of them expires; zero for none.
type Expiring interface{ Expiry() time.Time }

// AddCertificate has the metrics say when a certificate expires that clients see.
func (n *Node) AddCertificate(f Expiring) {
	n.certificates.mu.Lock()
	defer n.certificates.mu.Unlock()
	n.certificates.list = append(n.certificates.list, f)
}

// ManageCertificates has a Manager get the certificates of all hosts of the settings and of tenants, once Operate is called. It is
// called once, before that.
func (n *Node) ManageCertificates(m *acme.Manager) {
	n.AddCertificate(m)
	n.managed.Store(m)
	n.nameCertificates()
}

// nameCertificates tells the Manager of certificates which hosts there are now.
func (n *Node) nameCertificates() {
	if m := n.managed.Load(); m != nil {
		m.SetNames(n.settings.Load().CertificateHosts(n.store.Snapshot()))
	}
}

// Problems says what is wrong with the server itself, sorted; nil for nothing.
func (n *Node) Problems() []string {
	if m := n.managed.Load(); m != nil {
		return m.Problems()
	}
	return nil
}

// expiry returns when the first certificate expires; zero for none.
func (n *Node) expiry() (first time.Time) {
	n.certificates.mu.Lock()
	defer n.certificates.mu.Unlock()
	for _, files := range n.certificates.list {
		if at := files.Expiry(); !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// canariesIn counts the routes with a canary.
func canariesIn(s *tenant.Snapshot) (n int) {
	for _, r := range s.Routes {
		if r.Canary != 0 {
			n++
		}
	}
	return n
}
