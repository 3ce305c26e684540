package node

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/certificate"
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
		NotReadyFor: n.NotReady(), Live: live.Live, LiveBytes: bytesOf(live),
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

// States implements [admin.Host]. While a tenant has fewer processes than providers, those that are open are called idle,
// whichever of them have a process.
func (n *Node) States(tenantID string) map[string]admin.State {
	states := map[string]admin.State{}
	processes, _ := n.Live(tenantID)
	open := n.host.States(tenantID)
	for name, s := range open {
		if s.Name == "idle" && processes == 0 {
			s.Name = admin.Cold
		} else if s.Name == "idle" && processes >= len(open) {
			s.Name = "live"
		}
		states[name] = admin.State{Name: s.Name, Reason: s.Reason}
	}
	return states
}

// Top implements [admin.Host].
func (n *Node) Top(most int) []admin.Load {
	snapshot := n.store.Snapshot()
	var loads []admin.Load
	for _, l := range n.metrics.Loads(most) {
		one := admin.Load{
			Tenant: l.Tenant, PerSecond: l.PerSecond, P99Micros: l.P99.Microseconds(), Limited: l.Limited, Faults: l.Faults,
		}
		one.Live, one.Bytes = n.Live(l.Tenant)
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
		Removed: r.Removed, Problems: r.Problems, Restart: r.Restart, TookMillis: r.Took.Milliseconds(),
	}, nil
}

// state is what a scrape of the metrics gets.
func (n *Node) state() telemetry.State {
	snapshot, live := n.store.Snapshot(), n.live.Stats()
	all := 0
	for _, t := range snapshot.Tenants {
		all += len(t.Providers)
	}
	listening, ofSessions := n.host.Streams()
	return telemetry.State{
		Streams: map[string]int{"2026-07-28": listening, "sessions": ofSessions}, LedgerLag: n.ledger.Lag(), Expiry: n.expiry(), Spans: n.spans(),
		Generation: snapshot.Generation, Stale: len(snapshot.Problems), Canaries: canariesIn(snapshot), LiveBytes: bytesOf(live),
		Providers: map[string]int{"live": live.Live, "starting": live.Starting, "cold": max(all-live.Live-live.Starting, 0)},
	}
}

// certificates are those that clients and operators see.
type certificates struct {
	mu   sync.Mutex
	list []*certificate.Files
}

// AddCertificate has the metrics say when a certificate expires that clients see.
func (n *Node) AddCertificate(f *certificate.Files) {
	n.certificates.mu.Lock()
	defer n.certificates.mu.Unlock()
	n.certificates.list = append(n.certificates.list, f)
}

// expiry returns when the first certificate expires; zero for none.
func (n *Node) expiry() (first time.Time) {
	n.certificates.mu.Lock()
	defer n.certificates.mu.Unlock()
	for _, files := range n.certificates.list {
		if at := files.Expiry(); first.IsZero() || at.Before(first) {
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
