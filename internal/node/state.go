package node

import (
	"context"
	"slices"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/telemetry"
)

var (
	_ admin.Host = (*Node)(nil)
	_ admin.Keys = (*Node)(nil)
)

// Node implements [admin.Host].
func (n *Node) Node() admin.Node {
	return admin.Node{
		Version: n.cfg.Version, Started: n.began, Endpoints: n.cfg.Endpoints, Generation: n.store.Snapshot().Generation,
		NotReadyFor: n.NotReady(), Live: n.live.Stats().Live, Capacity: n.capacity.Providers, CapacityBy: n.capacity.Name,
	}
}

// NotReady says why the server takes no clients; nil if it does.
func (n *Node) NotReady() []string {
	if n.draining.Load() {
		return []string{"the server is ending"}
	}
	return nil
}

// States implements [admin.Host].
func (n *Node) States(tenantID string) map[string]admin.State {
	states := map[string]admin.State{}
	for name, s := range n.host.States(tenantID) {
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
	return admin.Report{
		Generation: r.Generation, Tenants: r.Tenants, Set: slices.Sorted(slices.Values(slices.Concat(r.Added, r.Changed))),
		Removed: r.Removed, Problems: r.Problems, Restart: r.Restart, TookMillis: r.Took.Milliseconds(),
	}, nil
}

// state is what a scrape of the metrics gets.
func (n *Node) state() telemetry.State {
	snapshot := n.store.Snapshot()
	return telemetry.State{Generation: snapshot.Generation, Stale: len(snapshot.Problems)}
}
