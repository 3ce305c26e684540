// Package admintest has a server of tenants without providers, for tests of the operators' side.
package admintest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/auth/tokens"
)

// A Host keeps a snapshot, makes keys in it, and reloads what the test says. It is safe for concurrent use.
type Host struct {
	mu       sync.Mutex
	snapshot *tenant.Snapshot // guarded by mu; immutable
	states   map[string]map[string]admin.State
	loads    []admin.Load
	next     func() (*tenant.Snapshot, error) // for Reload; nil changes nothing
	fail     error                            // of changes of keys; nil is none
}

// New makes a Host of tenants.
func New(tenants ...*tenant.Tenant) *Host {
	s := &tenant.Snapshot{Generation: 1, Tenants: map[string]*tenant.Tenant{}, Keys: map[string]*tenant.Key{}, Problems: map[string]string{}, Gone: map[string]time.Time{}}
	for _, t := range tenants {
		s.Tenants[t.ID] = t
	}
	return &Host{snapshot: s}
}

// Serve serves the API in a folder of the test, until the test ends, and returns the socket.
func (h *Host) Serve(t *testing.T) (socket string) {
	t.Helper()
	server, err := admin.New(admin.Config{Host: h, Keys: h})
	if err != nil {
		t.Fatal(err)
	}
	socket = filepath.Join(t.TempDir(), admin.SocketName)
	l, err := admin.Listen(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	Until(t, func(ctx context.Context) error { return server.Serve(ctx, l) })
	return socket
}

// Until runs serve until the test ends.
func Until(t *testing.T, serve func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil && !errors.Is(err, net.ErrClosed) {
			t.Errorf("serve: %v", err)
		}
	})
}

// Change changes a copy of the snapshot, in a new generation.
func (h *Host) Change(change func(*tenant.Snapshot)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changeLocked(change)
}

func (h *Host) changeLocked(change func(*tenant.Snapshot)) {
	s := *h.snapshot
	s.Tenants, s.Keys, s.Problems, s.Gone = maps.Clone(s.Tenants), maps.Clone(s.Keys), maps.Clone(s.Problems), maps.Clone(s.Gone)
	change(&s)
	s.Generation++
	h.snapshot = &s
}

// SetStates sets the states of a tenant's providers.
func (h *Host) SetStates(tenantID string, states map[string]admin.State) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.states == nil {
		h.states = map[string]map[string]admin.State{}
	}
	h.states[tenantID] = states
}

// SetLoads sets what Top answers.
func (h *Host) SetLoads(loads ...admin.Load) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.loads = loads
}

// SetFailure sets the error of changes of keys.
func (h *Host) SetFailure(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fail = err
}

// SetReload sets what the next configuration is.
func (h *Host) SetReload(next func() (*tenant.Snapshot, error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next = next
}

// Snapshot implements [admin.Host].
func (h *Host) Snapshot() *tenant.Snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.snapshot
}

// Node implements [admin.Host].
func (h *Host) Node() admin.Node {
	return admin.Node{
		Version: "v1.2.3", Started: time.Now().Add(-90 * time.Minute), Capacity: 2190, CapacityBy: "descriptors",
		Endpoints: []string{"http://127.0.0.1:8080/t/{tenant}/mcp"},
	}
}

// States implements [admin.Host].
func (h *Host) States(tenantID string) map[string]admin.State {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.states[tenantID]
}

// Live implements [admin.Host].
func (h *Host) Live(tenantID string) (processes int, memory uint64) {
	for _, s := range h.States(tenantID) {
		if s.Name == "live" {
			processes, memory = processes+1, memory+3<<20
		}
	}
	return processes, memory
}

// Top implements [admin.Host].
func (h *Host) Top(most int) []admin.Load {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.loads[:min(most, len(h.loads))]
}

// Reload implements [admin.Host].
func (h *Host) Reload(ctx context.Context) (admin.Report, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.next == nil {
		return admin.Report{Generation: h.snapshot.Generation, Tenants: len(h.snapshot.Tenants)}, ctx.Err()
	}
	next, err := h.next()
	if err != nil {
		return admin.Report{}, err
	}
	report := admin.Report{Generation: next.Generation, Tenants: len(next.Tenants), Problems: next.Problems}
	for id, t := range next.Tenants {
		if old := h.snapshot.Tenants[id]; old == nil || old.Digest != t.Digest {
			report.Set = append(report.Set, id)
		}
	}
	slices.Sort(report.Set)
	for id := range h.snapshot.Tenants {
		if next.Tenants[id] == nil {
			report.Removed = append(report.Removed, id)
		}
	}
	h.snapshot = next
	return report, nil
}

// Create implements [admin.Keys].
func (h *Host) Create(_ context.Context, actor string, spec admin.KeySpec) (*tenant.Key, string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.createLocked(&tenant.Key{
		Tenant: spec.Tenant, Name: spec.Name, Roles: spec.Roles, URIs: spec.URIs, Networks: spec.Networks, Expires: spec.Expires, Creator: actor,
	})
}

func (h *Host) createLocked(k *tenant.Key) (*tenant.Key, string, error) {
	if h.fail != nil {
		return nil, "", h.fail
	}
	text, id, sum := tokens.New()
	k.ID, k.SHA256, k.Created = id, sum, time.Now().UTC()
	h.changeLocked(func(s *tenant.Snapshot) { s.Keys[id] = k })
	return k, text, nil
}

// Revoke implements [admin.Keys].
func (h *Host) Revoke(_ context.Context, _, id string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fail != nil {
		return h.fail
	}
	if h.snapshot.Keys[id] == nil {
		return fmt.Errorf("no key %q: %w", id, tenant.ErrConflict)
	}
	h.changeLocked(func(s *tenant.Snapshot) { delete(s.Keys, id) })
	return nil
}

// Rotate implements [admin.Keys].
func (h *Host) Rotate(_ context.Context, actor, id string, grace time.Duration) (*tenant.Key, string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old := h.snapshot.Keys[id]
	if old == nil {
		return nil, "", fmt.Errorf("no key %q: %w", id, tenant.ErrConflict)
	}
	next, ending := *old, *old
	next.Creator, next.LastUsed = actor, time.Time{}
	made, text, err := h.createLocked(&next)
	if err != nil {
		return nil, "", err
	}
	ending.Expires = time.Now().Add(grace).UTC()
	h.changeLocked(func(s *tenant.Snapshot) { s.Keys[id] = &ending })
	return made, text, nil
}
