// Package admintest has a server of tenants without providers, for tests of the operators' side.
package admintest

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/seal"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/keys"
	"github.com/wasmres/wasmres/internal/tenant/sealed"
	"github.com/wasmres/wasmres/internal/tenant/store"
	"github.com/wasmres/wasmres/internal/usage"
	"github.com/wasmres/wasmres/runtime/auth/tokens"
)

// A Host has a real store of tenants, without anything that serves them, and reloads what the test says. It is safe for
// concurrent use.
type Host struct {
	*store.Store
	Usage  *usage.Book
	Ledger *ledger.Ledger

	tb  testing.TB
	dir string // of Store

	mu       sync.Mutex
	problems map[string]string // guarded by mu, as the fields below
	gone     map[string]time.Time
	instead  *tenant.Snapshot // what Reload has read; nil before
	states   map[string]map[string]admin.State
	loads    []admin.Load
	sessions map[string][]admin.Session
	next     func() (*tenant.Snapshot, error) // for Reload; nil changes nothing
	fail     error                            // of changes; nil is none
	clients  []tenant.AdminClient
}

// New makes a Host of tenants. Those without an owner are of files.
func New(tb testing.TB, tenants ...*tenant.Tenant) *Host {
	tb.Helper()
	dir := tb.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	kept, err := store.Open(tb.Context(), store.Config{Dir: dir})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := kept.Close(); err != nil {
			tb.Error(err)
		}
	})
	book, err := usage.Open(tb.Context(), usage.Config{File: filepath.Join(dir, "usage.db")})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := book.Close(); err != nil {
			tb.Error(err)
		}
	})
	record, err := ledger.Open(ledger.Config{Dir: filepath.Join(dir, "ledger"), KeyFile: filepath.Join(dir, "node.key")})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := record.Close(); err != nil {
			tb.Error(err)
		}
	})
	h := &Host{Store: kept, Usage: book, Ledger: record, tb: tb, dir: dir}
	for _, owner := range []tenant.Owner{tenant.OwnerFiles, tenant.OwnerAPI} {
		c := tenant.Change{Owner: owner}
		for _, t := range tenants {
			if t.Owner = cmp.Or(t.Owner, tenant.OwnerFiles); t.Owner == owner {
				c.SetTenants = append(c.SetTenants, t)
			}
		}
		if _, err := kept.Apply(tb.Context(), c); err != nil {
			tb.Fatal(err)
		}
	}
	return h
}

// Config returns that of a server of h.
func (h *Host) Config() admin.Config {
	return admin.Config{Host: h, Keys: h, Once: h, Secrets: h.keeper(), Usage: h.Usage.Read, Quotas: func(string) []admin.Quota {
		return []admin.Quota{{Limit: "streams", Used: 3, Most: 100}, {Limit: "answers today", Unit: admin.UnitBytes, Used: 90, Most: 100}}
	}, Sessions: h.sessionsOf, Record: h.record, Audit: h.Ledger.Select, Events: h.Ledger}
}

func (h *Host) record(ctx context.Context, e ledger.Entry) error { return h.Ledger.Append(ctx, e) }

// keeper keeps secrets by a key in the folder of the store.
func (h *Host) keeper() *sealed.Keeper {
	file := filepath.Join(h.dir, "secrets.key")
	if err := seal.New().WriteNew(file); err != nil && !errors.Is(err, os.ErrExist) {
		h.tb.Fatal(err)
	}
	k, err := sealed.Open(file, h, time.Now)
	if err != nil {
		h.tb.Fatal(err)
	}
	return k
}

// Serve serves the API in a folder of the test, until the test ends, and returns a socket. All that passes there is held
// against the description of the API: see [Validate].
func (h *Host) Serve(t *testing.T) (socket string) {
	t.Helper()
	return Validate(t, h.ServeBare(t))
}

// ServeBare serves the API as Serve does, without anything between the socket and the server.
func (h *Host) ServeBare(t *testing.T) (socket string) {
	t.Helper()
	server, err := admin.New(h.Config())
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

// ServeProbes serves probes at an address of this machine, until the test ends, and returns it.
func (h *Host) ServeProbes(t *testing.T) (address string) {
	t.Helper()
	l, err := admin.ListenProbes(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	Until(t, func(ctx context.Context) error { return admin.NewProbes(admin.ProbeConfig{}).Serve(ctx, l) })
	return l.Addr().String()
}

// ServeTLS serves the API at an address of this machine, until the test ends, and returns its URL.
func (h *Host) ServeTLS(t *testing.T, config *tls.Config) (url string) {
	t.Helper()
	server, err := admin.New(h.Config())
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	Until(t, func(ctx context.Context) error { return server.ServeTLS(ctx, l, config, nil) })
	return "https://" + l.Addr().String()
}

// SetClients sets whose certificates say who they are.
func (h *Host) SetClients(clients ...tenant.AdminClient) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients = clients
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

// Files returns what the files of the store have in them.
func (h *Host) Files() (texts []string) {
	names, err := filepath.Glob(filepath.Join(h.dir, "serve.db*"))
	if err != nil || len(names) == 0 {
		h.tb.Fatalf("got the files %v, %v", names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			h.tb.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

// SetProblems sets the problems of tenants.
func (h *Host) SetProblems(problems map[string]string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.problems = problems
}

// SetGone sets which tenants were removed, and when.
func (h *Host) SetGone(gone map[string]time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone = gone
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

// SetSessions sets the open sessions of a tenant's clients.
func (h *Host) SetSessions(tenantID string, sessions ...admin.Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sessions == nil {
		h.sessions = map[string][]admin.Session{}
	}
	h.sessions[tenantID] = sessions
}

func (h *Host) sessionsOf(tenantID string) []admin.Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[tenantID]
}

// SetFailure sets the error of all changes.
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
	return h.snapshotLocked()
}

func (h *Host) snapshotLocked() *tenant.Snapshot {
	if h.instead != nil {
		return h.instead
	}
	s := *h.Store.Snapshot()
	if h.problems != nil {
		s.Problems = h.problems
	}
	if h.gone != nil {
		s.Gone = h.gone
	}
	return &s
}

// Settings implements [admin.Host].
func (h *Host) Settings() *tenant.Settings {
	s, err := tenant.DefaultSettings(h.dir)
	if err != nil {
		h.tb.Error(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s.Admin.TLS = &tenant.AdminTLS{Clients: h.clients}
	return s
}

// Apply implements [admin.Host].
func (h *Host) Apply(ctx context.Context, c tenant.Change) (uint64, error) {
	h.mu.Lock()
	fail := h.fail
	h.mu.Unlock()
	if fail != nil {
		return 0, fail
	}
	return h.Store.Apply(ctx, c)
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

// Wake implements [admin.Host].
func (h *Host) Wake(ctx context.Context, _ tenant.ProviderID) error { return ctx.Err() }

// Stop implements [admin.Host].
func (h *Host) Stop(tenant.ProviderID) int { return 0 }

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
	now := h.snapshotLocked()
	if h.next == nil {
		return admin.Report{Generation: now.Generation, Tenants: len(now.Tenants)}, ctx.Err()
	}
	next, err := h.next()
	if err != nil {
		return admin.Report{}, err
	}
	report := admin.Report{Generation: next.Generation, Tenants: len(next.Tenants), Problems: next.Problems}
	for id, t := range next.Tenants {
		if old := now.Tenants[id]; old == nil || old.Digest != t.Digest {
			report.Set = append(report.Set, id)
		}
	}
	slices.Sort(report.Set)
	for id := range now.Tenants {
		if next.Tenants[id] == nil {
			report.Removed = append(report.Removed, id)
		}
	}
	h.instead = next
	return report, nil
}

// Create implements [admin.Keys].
func (h *Host) Create(ctx context.Context, actor string, spec admin.KeySpec) (*tenant.Key, string, error) {
	k := &tenant.Key{
		Tenant: spec.Tenant, Name: spec.Name, Roles: spec.Roles, URIs: spec.URIs, Networks: spec.Networks, Expires: spec.Expires, Creator: actor,
		Created: time.Now().UTC(),
	}
	var text string
	text, k.ID, k.SHA256 = tokens.New()
	_, err := h.Apply(ctx, tenant.Change{Actor: actor, SetKeys: []*tenant.Key{k}})
	return k, text, err
}

// Revoke implements [admin.Keys].
func (h *Host) Revoke(ctx context.Context, actor, id string, base uint64) error {
	_, err := h.Apply(ctx, tenant.Change{Base: base, Actor: actor, RemoveKeys: []string{id}})
	return err
}

// Rotate implements [admin.Keys].
func (h *Host) Rotate(ctx context.Context, actor, id string, grace time.Duration, base uint64) (*tenant.Key, string, error) {
	old := h.Snapshot().Keys[id]
	if old == nil {
		return nil, "", fmt.Errorf("no key %q: %w", id, tenant.ErrConflict)
	}
	text, made, ending := keys.Rotate(old, cmp.Or(grace, -1), actor)
	_, err := h.Apply(ctx, tenant.Change{Base: base, Actor: actor, SetKeys: []*tenant.Key{made, ending}})
	return made, text, err
}
