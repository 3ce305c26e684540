// Package storetest is a test suite for the behaviour that all implementations of tenant.Store share.
package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/tenant"
)

// A Config says how to make a store for a test.
type Config struct {
	// Open makes a store of the data in dir, with a clock. The suite closes it.
	Open func(t *testing.T, dir string, now func() time.Time) tenant.Store
}

// Tenant makes a tenant that has something in each field.
func Tenant(id string) *tenant.Tenant {
	return &tenant.Tenant{
		ID: id, Plan: "small", Hosts: []string{id + ".mcp.example"}, Origins: []string{"https://" + id + ".example"},
		Providers: []tenant.Provider{{
			Name: "notes", Module: "/srv/notes.wasm", Digest: "sha256:9f86", Prefixes: []string{"notes:"}, PassPrincipal: true,
			Policy: policy.Policy{
				Description: "the notes of " + id,
				Storage:     []policy.Storage{{Host: "/srv/" + id, Guest: "/data", Access: policy.Read | policy.Write}},
				Network:     []policy.Network{{Host: "api.example.org", Ports: []uint16{443}, Secrets: []string{"token"}}},
				Secrets:     []policy.Secret{{Name: "token", File: "/etc/token"}},
				Config:      map[string]string{"title": "Notes"},
				KV:          &policy.KV{MaxKeys: 100},
				Limits:      policy.Limits{Memory: 64 << 20, Timeout: 2 * time.Second},
			},
		}},
		Roles: []tenant.Role{
			{Name: "reader", Rules: []tenant.Rule{{Actions: []string{"list", "read"}, URIs: []string{"notes://**"}}}},
			{Name: "writer", Rules: []tenant.Rule{{Actions: []string{"watch"}, URIs: []string{"notes://drafts/**"}, Providers: []string{"notes"}, Scope: "drafts"}}},
		},
		Scopes: []string{"notes"},
		Issuers: []tenant.Issuer{{
			URL: "https://id.example", Audiences: []string{"a"}, Types: []string{"JWT", "none"}, Roles: []string{"reader"}, RolesClaim: "groups",
			Map: map[string][]string{"staff": {"writer"}}, Discovery: "https://id.example/discovery", Keys: "https://id.example/keys",
			Introspection: &tenant.Introspection{ClientID: "wasmres", SecretFile: "/etc/secret", URL: "https://id.example/introspect"},
		}},
		Anonymous: []string{"reader"}, Tools: true, Owner: tenant.OwnerFiles, Digest: "9f86",
	}
}

// Key makes a key that has something in each field.
func Key(of, id string) *tenant.Key {
	return &tenant.Key{
		ID: id, Tenant: of, Name: "client-" + id, SHA256: sha256.Sum256([]byte(id)), Roles: []string{"reader"},
		URIs: []string{"notes://public/**"}, Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")},
		Created: time.Unix(1_800_000_000, 0).UTC(), Creator: "uid 1000", Expires: time.Unix(1_900_000_000, 0).UTC(),
	}
}

// JSON gives what a snapshot says, to compare.
func JSON(t testing.TB, s *tenant.Snapshot) string {
	t.Helper()
	c := *s
	c.Problems = nil // not kept
	text, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A fixture is a store that a test may open again.
type fixture struct {
	tenant.Store
	t     *testing.T
	cfg   Config
	dir   string
	mu    sync.Mutex
	clock time.Time
}

func (f *fixture) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clock
}

func (f *fixture) advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clock = f.clock.Add(d)
}

// reopen closes the store and opens it again. It must say the same.
func (f *fixture) reopen() {
	f.t.Helper()
	was := JSON(f.t, f.Snapshot())
	if err := f.Close(); err != nil {
		f.t.Error(err)
	}
	f.Store = f.cfg.Open(f.t, f.dir, f.now)
	if now := JSON(f.t, f.Snapshot()); now != was {
		f.t.Errorf("when it is opened again it says %s, not %s", now, was)
	}
}

func (f *fixture) apply(c tenant.Change) *tenant.Snapshot {
	f.t.Helper()
	if c.Owner == "" {
		c.Owner = tenant.OwnerFiles
	}
	before := f.Snapshot()
	generation, err := f.Apply(f.t.Context(), c)
	if err != nil {
		f.t.Fatal(err)
	}
	s := f.Snapshot()
	checkChanged(f.t, before, s)
	if s.Generation != generation {
		f.t.Errorf("generation %d is applied, %d is present", generation, s.Generation)
	}
	return s
}

// checkChanged checks that a snapshot names all tenants that differ from those of an earlier one.
func checkChanged(t *testing.T, before, after *tenant.Snapshot) {
	t.Helper()
	named := map[string]bool{}
	for _, id := range after.ChangedSince(before) {
		named[id] = true
	}
	check := func(id, what string, differs bool) {
		if differs && !named[id] {
			t.Errorf("the %s of the tenant %s differs from before, and only %v are named", what, id, named)
		}
	}
	for _, s := range []*tenant.Snapshot{before, after} {
		for id, of := range s.Tenants {
			check(id, "state", before.Tenants[id] != after.Tenants[id])
			check(id, "plan", before.PlanOf(of) != after.PlanOf(of))
		}
		for id := range s.Routes {
			check(id.Tenant, "route", before.Routes[id] != after.Routes[id])
		}
		for id := range s.Versions {
			check(id.Tenant, "version", !slices.Equal(before.Versions[id], after.Versions[id]))
		}
		for id := range s.Secrets {
			check(id.Tenant, "secret", before.Secrets[id] != after.Secrets[id])
		}
	}
}

// refuse makes a change that must fail, and change nothing.
func (f *fixture) refuse(want error, c tenant.Change) {
	f.t.Helper()
	before := f.Snapshot()
	if _, err := f.Apply(f.t.Context(), c); !errors.Is(err, want) {
		f.t.Errorf("got %v, want %v", err, want)
	}
	if f.Snapshot() != before {
		f.t.Errorf("a change that was refused (%v) has changed something", want)
	}
}

// Run runs the suite.
func Run(t *testing.T, cfg Config) {
	for name, test := range map[string]func(t *testing.T, f *fixture){
		"a new store":                 isEmpty,
		"changes last":                changesLast,
		"unchanged pointers":          keepsPointers,
		"bad changes":                 refusesChanges,
		"owners":                      keepsOwners,
		"removed tenants":             remembersRemoved,
		"versions":                    keepsVersions,
		"bad versions":                refusesVersions,
		"versions of removed tenants": removesVersions,
		"last use":                    notesUse,
		"watching":                    watches,
		"many writers":                manyWriters,
		"closing":                     closes,
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{t: t, cfg: cfg, dir: t.TempDir(), clock: time.Unix(1_800_000_000, 0)}
			f.Store = cfg.Open(t, f.dir, f.now)
			defer func() {
				if err := f.Close(); err != nil {
					t.Error(err)
				}
			}()
			test(t, f)
		})
	}
}

func isEmpty(t *testing.T, f *fixture) {
	s := f.Snapshot()
	if s.Generation != 0 || len(s.Tenants)+len(s.Keys)+len(s.Hosts)+len(s.Gone) != 0 || len(s.Plans) != 1 || s.Plans[tenant.DefaultPlan] == nil {
		t.Errorf("got %+v", s)
	}
	f.reopen()
}

func changesLast(t *testing.T, f *fixture) {
	acme, zoo := Tenant("acme"), Tenant("zoo")
	s := f.apply(tenant.Change{
		SetTenants: []*tenant.Tenant{acme, zoo}, SetKeys: []*tenant.Key{Key("acme", "a"), Key("zoo", "b")},
		SetPlans:    []*tenant.Plan{{Name: "small", Concurrent: 3, Requests: tenant.Rate{PerSecond: 0.5, Burst: 2}, Ceiling: &policy.Policy{}}},
		SetProblems: map[string]string{"bad": "tenants/bad.yaml: is wrong"},
	})
	if s.Hosts["zoo.mcp.example"] != zoo || s.Problems["bad"] == "" || s.Plans["small"].Concurrent != 3 || s.Plans[tenant.DefaultPlan] == nil {
		t.Errorf("got %+v", s)
	}
	f.reopen()
	if len(f.Snapshot().Problems) != 0 {
		t.Error("problems are kept")
	}
	changed := Tenant("zoo")
	changed.Hosts, changed.Digest = []string{"acme.mcp.example"}, "another"
	moved := Tenant("acme")
	moved.Hosts = nil
	s = f.apply(tenant.Change{
		SetTenants: []*tenant.Tenant{changed, moved}, RemoveKeys: []string{"a", "unknown"}, SetPlans: []*tenant.Plan{},
	})
	if s.Hosts["acme.mcp.example"] != changed || len(s.Hosts) != 1 || s.Keys["a"] != nil || len(s.Plans) != 1 {
		t.Errorf("got %+v", s)
	}
	f.reopen()
}

func keepsPointers(t *testing.T, f *fixture) {
	first := f.apply(tenant.Change{SetTenants: []*tenant.Tenant{Tenant("acme"), Tenant("zoo")}, SetKeys: []*tenant.Key{Key("acme", "a")}})
	before := JSON(t, first)
	changed := Tenant("zoo")
	changed.Disabled, changed.Digest = true, "another"
	second := f.apply(tenant.Change{SetTenants: []*tenant.Tenant{Tenant("acme"), changed}})
	if second.Tenants["acme"] != first.Tenants["acme"] || second.Keys["a"] != first.Keys["a"] || second.Tenants["zoo"] != changed {
		t.Error("what has not changed has other pointers")
	}
	if JSON(t, first) != before {
		t.Error("a snapshot has changed")
	}
	third := f.apply(tenant.Change{SetTenants: []*tenant.Tenant{Tenant("acme")}, SetKeys: []*tenant.Key{Key("acme", "a")}, RemoveTenants: []string{"none"}})
	if third != second {
		t.Error("a change without effect has one")
	}
}

func refusesChanges(t *testing.T, f *fixture) {
	now := f.apply(tenant.Change{SetTenants: []*tenant.Tenant{Tenant("acme"), Tenant("zoo")}, SetKeys: []*tenant.Key{Key("acme", "a")}})
	good := Tenant("new")
	shared := Tenant("other")
	shared.Hosts = []string{"acme.mcp.example"}
	huge := Tenant("huge")
	huge.Digest = string(make([]byte, 5<<20))
	for _, c := range []tenant.Change{
		{SetTenants: []*tenant.Tenant{good, Tenant("Upper")}},
		{SetTenants: []*tenant.Tenant{good, Tenant("-dash")}},
		{SetTenants: []*tenant.Tenant{good, Tenant("")}},
		{SetTenants: []*tenant.Tenant{good, good}},
		{SetTenants: []*tenant.Tenant{good, shared}},
		{SetTenants: []*tenant.Tenant{good, huge}},
		{SetTenants: []*tenant.Tenant{good}, RemoveTenants: []string{"new"}},
		{SetTenants: []*tenant.Tenant{good}, SetKeys: []*tenant.Key{Key("none", "b")}},
		{SetTenants: []*tenant.Tenant{good}, SetKeys: []*tenant.Key{Key("acme", "")}},
		{SetTenants: []*tenant.Tenant{good}, SetKeys: []*tenant.Key{{ID: "b", Tenant: "acme", Name: "b"}}},
		{SetTenants: []*tenant.Tenant{good}, SetKeys: []*tenant.Key{Key("acme", "b")}, RemoveKeys: []string{"b"}},
		{SetTenants: []*tenant.Tenant{good}, SetPlans: []*tenant.Plan{{}}},
		{RemoveTenants: []string{"zoo"}, SetKeys: []*tenant.Key{Key("zoo", "b")}},
	} {
		c.Owner = tenant.OwnerFiles
		f.refuse(tenant.ErrInvalid, c)
	}
	f.refuse(tenant.ErrConflict, tenant.Change{Base: now.Generation + 1, Owner: tenant.OwnerFiles, SetTenants: []*tenant.Tenant{good}})
	f.apply(tenant.Change{Base: now.Generation, SetTenants: []*tenant.Tenant{good}})
	f.refuse(tenant.ErrConflict, tenant.Change{Base: now.Generation, Owner: tenant.OwnerFiles, RemoveTenants: []string{"new"}})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Apply(ended, tenant.Change{RemoveKeys: []string{"a"}}); !errors.Is(err, context.Canceled) || f.Snapshot().Keys["a"] == nil {
		t.Errorf("a change whose context has ended: %v", err)
	}
	f.reopen()
}

func keepsOwners(t *testing.T, f *fixture) {
	theirs := Tenant("theirs")
	theirs.Owner = tenant.OwnerAPI
	f.apply(tenant.Change{Owner: tenant.OwnerAPI, SetTenants: []*tenant.Tenant{theirs}, SetKeys: []*tenant.Key{Key("theirs", "k")}})
	f.apply(tenant.Change{SetTenants: []*tenant.Tenant{Tenant("ours")}})
	f.refuse(tenant.ErrOwned, tenant.Change{Owner: tenant.OwnerFiles, SetTenants: []*tenant.Tenant{Tenant("theirs")}})
	f.refuse(tenant.ErrOwned, tenant.Change{Owner: tenant.OwnerFiles, RemoveTenants: []string{"ours", "theirs"}})
	f.refuse(tenant.ErrInvalid, tenant.Change{Owner: tenant.OwnerFiles, SetTenants: []*tenant.Tenant{theirs}})
	f.refuse(tenant.ErrOwned, tenant.Change{SetKeys: []*tenant.Key{Key("ours", "k")}}) // of theirs
}

func remembersRemoved(t *testing.T, f *fixture) {
	f.apply(tenant.Change{SetTenants: []*tenant.Tenant{Tenant("acme"), Tenant("zoo")}, SetKeys: []*tenant.Key{Key("acme", "a"), Key("zoo", "z")}})
	s := f.apply(tenant.Change{RemoveTenants: []string{"acme"}})
	if s.Tenants["acme"] != nil || s.Hosts["acme.mcp.example"] != nil || !s.Gone["acme"].Equal(f.now()) || s.Keys["a"] == nil {
		t.Errorf("got %+v", s)
	}
	f.reopen()
	other := Tenant("acme")
	other.Owner = tenant.OwnerAPI
	f.advance(29 * 24 * time.Hour)
	f.refuse(tenant.ErrOwned, tenant.Change{Owner: tenant.OwnerAPI, SetTenants: []*tenant.Tenant{other}})
	f.refuse(tenant.ErrInvalid, tenant.Change{SetKeys: []*tenant.Key{Key("acme", "b")}})

	s = f.apply(tenant.Change{SetTenants: []*tenant.Tenant{Tenant("acme")}}) // the files are back
	if _, is := s.Gone["acme"]; is || s.Keys["a"] == nil {
		t.Errorf("got %+v", s)
	}
	f.reopen()
	f.apply(tenant.Change{RemoveTenants: []string{"acme"}})
	f.advance(30 * 24 * time.Hour)
	s = f.apply(tenant.Change{Owner: tenant.OwnerAPI, SetTenants: []*tenant.Tenant{other}})
	if s.Tenants["acme"] != other || s.Keys["a"] != nil || s.Keys["z"] == nil || len(s.Gone) != 0 {
		t.Errorf("the next owner got %+v", s)
	}
	f.reopen()
}

func notesUse(t *testing.T, f *fixture) {
	s := f.apply(tenant.Change{SetTenants: []*tenant.Tenant{Tenant("acme")}, SetKeys: []*tenant.Key{Key("acme", "a"), Key("acme", "b")}})
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	day := noon.Truncate(24 * time.Hour)
	use := func(at time.Time) {
		t.Helper()
		if err := f.SetLastUsed(t.Context(), map[string]time.Time{"a": at, "none": at}); err != nil {
			t.Error(err)
		}
		if got := f.Snapshot().Keys["a"].LastUsed; !got.Equal(day) {
			t.Errorf("used at %v, noted as %v, want %v", at, got, day)
		}
	}
	use(noon)
	use(noon.Add(-48 * time.Hour))
	use(noon.Add(time.Hour))
	now := f.Snapshot()
	if now.Generation != s.Generation || !s.Keys["a"].LastUsed.IsZero() || now.Keys["b"] != s.Keys["b"] || now.Keys["none"] != nil {
		t.Errorf("got %+v", now)
	}
	changed := Key("acme", "a")
	changed.Roles = []string{"writer"}
	s = f.apply(tenant.Change{SetKeys: []*tenant.Key{changed}})
	if k := s.Keys["a"]; !k.LastUsed.Equal(day) || k.Roles[0] != "writer" {
		t.Errorf("got %+v", k)
	}
	f.reopen()
}

func watches(t *testing.T, f *fixture) {
	f.apply(tenant.Change{SetTenants: []*tenant.Tenant{Tenant("acme")}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen []uint64
	for s := range f.Watch(ctx) {
		seen = append(seen, s.Generation)
		if s != f.Snapshot() {
			t.Error("an old snapshot is yielded")
		}
		switch len(seen) {
		case 1:
			for i := range 3 { // while it is not watching
				f.apply(tenant.Change{SetTenants: []*tenant.Tenant{Tenant(fmt.Sprint("t", i))}})
			}
		case 2:
			if err := f.SetLastUsed(ctx, map[string]time.Time{"none": f.now()}); err != nil {
				t.Error(err)
			}
			cancel()
		}
	}
	if got := fmt.Sprint(seen); got != "[1 4]" {
		t.Errorf("saw %v", got)
	}
	ended := make(chan struct{})
	watching := make(chan struct{})
	go func() {
		defer close(ended)
		for range f.Watch(context.Background()) {
			close(watching)
		}
	}()
	<-watching
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	<-ended
	f.Store = f.cfg.Open(t, f.dir, f.now)
}

// Each writer counts in one tenant, by reading and writing on the same base.
func manyWriters(t *testing.T, f *fixture) {
	counter := Tenant("counter")
	counter.Digest = "0"
	f.apply(tenant.Change{SetTenants: []*tenant.Tenant{counter}})
	const writers, each = 4, 8
	var running sync.WaitGroup
	for range writers {
		running.Go(func() {
			for done := 0; done < each; {
				s := f.Snapshot()
				next := *s.Tenants["counter"]
				var n int
				_, _ = fmt.Sscan(next.Digest, &n)
				next.Digest = fmt.Sprint(n + 1)
				_, err := f.Apply(t.Context(), tenant.Change{Base: s.Generation, Owner: tenant.OwnerFiles, SetTenants: []*tenant.Tenant{&next}})
				switch {
				case err == nil:
					done++
				case !errors.Is(err, tenant.ErrConflict):
					t.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
	if got := f.Snapshot().Tenants["counter"].Digest; got != fmt.Sprint(writers*each) {
		t.Errorf("counted to %s, want %d", got, writers*each)
	}
	f.reopen()
}

func closes(t *testing.T, f *fixture) {
	was := f.Snapshot()
	if err := errors.Join(f.Close(), f.Close()); err != nil {
		t.Error(err)
	}
	if _, err := f.Apply(t.Context(), tenant.Change{SetProblems: map[string]string{"a": "b"}}); !errors.Is(err, tenant.ErrClosed) {
		t.Errorf("apply: %v", err)
	}
	if err := f.SetLastUsed(t.Context(), nil); !errors.Is(err, tenant.ErrClosed) {
		t.Errorf("note use: %v", err)
	}
	if f.Snapshot() != was {
		t.Error("the state cannot be read any more")
	}
}
