package deploy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/blobs"
	"github.com/wasmres/wasmres/internal/deploy"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/store"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
)

func TestMain(m *testing.M) {
	runtime.Main()
	sqlcap.Main()
	os.Exit(m.Run())
}

var notes = tenant.ProviderID{Tenant: "acme", Provider: "notes"}

// A fixture is a server's store, modules and Deployer, on a real Host.
type fixture struct {
	*deploy.Deployer
	t     *testing.T
	store *store.Store
	blobs *blobs.Store
	host  *runtime.Host
	data  string
	cfg   deploy.Config
}

// open opens a server with one tenant, whose provider notes is deployed. change may change the tenant and its plan.
func open(t *testing.T, change func(*tenant.Tenant, *tenant.Plan)) *fixture {
	t.Helper()
	f := &fixture{t: t, data: filepath.Join(t.TempDir(), "data")}
	var err error
	if f.store, err = store.Open(t.Context(), store.Config{Dir: f.data}); err != nil {
		t.Fatal(err)
	}
	if f.blobs, err = blobs.Open(filepath.Join(f.data, "blobs"), nil); err != nil {
		t.Fatal(err)
	}
	if f.host, err = runtime.NewHost(runtime.HostConfig{CacheDir: guesttest.CacheDir(t)}); err != nil {
		t.Fatal(err)
	}
	of, plan := &tenant.Tenant{
		ID: "acme", Owner: tenant.OwnerFiles, Providers: []tenant.Provider{{Name: "fixed", Module: "/srv/fixed.wasm"}, {Name: "notes"}},
	}, &tenant.Plan{Name: tenant.DefaultPlan}
	if change != nil {
		change(of, plan)
	}
	f.apply(tenant.Change{Owner: tenant.OwnerFiles, SetTenants: []*tenant.Tenant{of}, SetPlans: []*tenant.Plan{plan}})
	f.cfg = deploy.Config{Store: f.store, Blobs: f.blobs, Runtime: f.host, DataDir: f.data}
	f.start(f.cfg)
	t.Cleanup(func() {
		if err := errors.Join(f.Close(), f.host.Close(), f.store.Close()); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *fixture) start(cfg deploy.Config) {
	f.t.Helper()
	var err error
	if f.Deployer, err = deploy.New(cfg); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) apply(c tenant.Change) {
	f.t.Helper()
	if _, err := f.store.Apply(f.t.Context(), c); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) push(module []byte, change func(*deploy.Push)) *tenant.Version {
	f.t.Helper()
	p := deploy.Push{Provider: notes, Body: bytes.NewReader(module), Next: tenant.Next{Promote: true}, Actor: "ada"}
	if change != nil {
		change(&p)
	}
	v, err := f.Push(f.t.Context(), p)
	if err != nil {
		f.t.Fatal(err)
	}
	return v
}

// settled waits until a version is not under way any more.
func (f *fixture) settled(number int) *tenant.Version {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Minute)
	defer cancel()
	for s := range f.store.Watch(ctx) {
		if v := s.VersionOf(notes, number); v != nil && !v.IsUnderWay() {
			return v
		}
	}
	f.t.Fatalf("version %d is still %+v", number, f.store.Snapshot().VersionOf(notes, number))
	return nil
}

// variant is a module of another digest, with the same code.
func variant(module []byte, n int) []byte {
	name := fmt.Sprint("variant-", n)
	section := append([]byte{0, byte(1 + len(name)), byte(len(name))}, name...)
	return append(bytes.Clone(module), section...)
}

func TestAPushedVersionServes(t *testing.T) {
	f := open(t, nil)
	hello := guesttest.Binary(t, "hello")
	if v := f.push(hello, nil); v.Number != 1 || v.State != tenant.StatePushed || v.Size != int64(len(hello)) {
		t.Errorf("got %+v", v)
	}
	v := f.settled(1)
	if v.State != tenant.StateApproved || v.Decider != "nothing to approve: it asks for nothing" || !strings.Contains(v.Manifest, "hello://about") ||
		!strings.Contains(v.Report, `"errors":0`) || !strings.HasPrefix(v.Metered, "sha256:") {
		t.Errorf("got %+v", v)
	}
	if r := f.store.Snapshot().Routes[notes]; r == nil || r.Active != 1 {
		t.Errorf("got %+v", r)
	}
	if again := f.push(hello, nil); again.Number != 1 {
		t.Errorf("the same module is version %d", again.Number)
	}
	f.push(variant(hello, 2), func(p *deploy.Push) { p.Next = tenant.Next{Canary: true, Share: 10} })
	if v := f.settled(2); v.State != tenant.StateApproved || v.Metered != f.settled(1).Metered {
		t.Errorf("got %+v", v)
	}
	if r := f.store.Snapshot().Routes[notes]; r.Active != 1 || r.Canary != 2 || r.Share != 10 {
		t.Errorf("got %+v", r)
	}
	if err := f.Promote(t.Context(), notes, 2, "ada", nil); err != nil {
		t.Error(err)
	}
	if r := f.store.Snapshot().Routes[notes]; r.Active != 2 || r.Previous != 1 || r.Canary != 0 {
		t.Errorf("got %+v", r)
	}
	if err := f.Rollback(t.Context(), notes, "ada", nil); err != nil {
		t.Error(err)
	}
	if r := f.store.Snapshot().Routes[notes]; r.Active != 1 || r.Previous != 2 || r.Changer != "ada" {
		t.Errorf("got %+v", r)
	}
	f.push(variant(hello, 2), nil) // an approved module is pushed again: it is promoted
	if r := f.store.Snapshot().Routes[notes]; r.Active != 2 {
		t.Errorf("got %+v", r)
	}
}

func TestWhatIsWrongIsRefusedWithAReport(t *testing.T) {
	f := open(t, nil)
	for i, tt := range []struct {
		name   string
		module []byte
		want   string
	}{
		{"no module", []byte("#!/bin/sh"), "not admitted"},
		{"nothing", nil, "not admitted"},
		{"no provider", read(t, "command.wasm"), "not admitted"},
		{"traps at its start", read(t, "initialize-trap.wasm"), "does not start"},
	} {
		f.push(tt.module, nil)
		v := f.settled(i + 1)
		if v.State != tenant.StateRefused || !strings.Contains(v.Reason, tt.want) {
			t.Errorf("%s: got %s: %s", tt.name, v.State, v.Reason)
		}
		if err := f.Approve(t.Context(), notes, v.Number, "root"); !errors.Is(err, deploy.ErrState) {
			t.Errorf("%s: approved: %v", tt.name, err)
		}
		if err := f.Promote(t.Context(), notes, v.Number, "root", nil); !errors.Is(err, deploy.ErrState) {
			t.Errorf("%s: promoted: %v", tt.name, err)
		}
	}
	if v := f.push([]byte("#!/bin/sh"), nil); v.Number != 1 || v.State != tenant.StatePushed {
		t.Errorf("a refused module is tried again as %+v", v)
	}
	f.settled(1)
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	module, err := os.ReadFile(filepath.Join("..", "..", "testdata", "wasm", name))
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// kv is a policy that grants a store.
func kv(keys uint64) *policy.Policy { return &policy.Policy{KV: &policy.KV{MaxKeys: keys}} }

func TestMoreThanWasGrantedWaitsForAnOperator(t *testing.T) {
	f := open(t, func(_ *tenant.Tenant, p *tenant.Plan) { p.Ceiling = kv(1000) })
	hello := guesttest.Binary(t, "hello")
	f.push(hello, func(p *deploy.Push) { p.Policy = kv(10) })
	if v := f.settled(1); v.State != tenant.StateWaiting || f.store.Snapshot().Routes[notes] != nil {
		t.Fatalf("got %+v", v)
	}
	if err := f.Promote(t.Context(), notes, 1, "ada", nil); !errors.Is(err, deploy.ErrState) {
		t.Errorf("promoted: %v", err)
	}
	for range 2 {
		if err := f.Approve(t.Context(), notes, 1, "root"); err != nil {
			t.Error(err)
		}
	}
	if v, r := f.settled(1), f.store.Snapshot().Routes[notes]; v.Decider != "root" || r == nil || r.Active != 1 {
		t.Fatalf("got %+v, %+v", v, r)
	}
	f.push(variant(hello, 2), func(p *deploy.Push) { p.Policy = kv(10) })
	if v := f.settled(2); v.State != tenant.StateApproved || v.Decider != "policy of version 1" {
		t.Errorf("no more than the active one: got %+v", v)
	}
	f.push(variant(hello, 3), func(p *deploy.Push) { p.Policy = kv(11) })
	if v := f.settled(3); v.State != tenant.StateWaiting {
		t.Errorf("more than the active one: got %+v", v)
	}
	if err := f.Reject(t.Context(), notes, 3, "too many\x1b[2J keys", "root"); err != nil {
		t.Error(err)
	}
	if v := f.settled(3); v.State != tenant.StateRejected || v.Reason == "" || strings.Contains(v.Reason, "\x1b") {
		t.Errorf("got %+v", v)
	}
	if err := f.Approve(t.Context(), notes, 3, "root"); !errors.Is(err, deploy.ErrState) {
		t.Errorf("approved: %v", err)
	}
	f.push(variant(hello, 4), func(p *deploy.Push) { p.Policy, p.Approver = kv(12), "root" })
	if v := f.settled(4); v.State != tenant.StateApproved || v.Decider != "root" {
		t.Errorf("approved in advance: got %+v", v)
	}
	for name, p := range map[string]*policy.Policy{
		"the ceiling":        kv(1001),
		"private networks":   {Network: []policy.Network{{Host: "10.0.0.1", Private: true}}},
		"the environment":    {Environment: []string{"PATH"}},
		"a folder of others": {Storage: []policy.Storage{{Host: "/etc", Guest: "/etc", Access: policy.Read}}},
		"a file's secret":    {Secrets: []policy.Secret{{Name: "a", File: "/etc/shadow"}}},
		"memory":             {Limits: policy.Limits{Memory: 1 << 40}},
	} {
		_, err := f.Push(t.Context(), deploy.Push{Provider: notes, Body: bytes.NewReader(variant(hello, 5)), Policy: p, Actor: "ada", Approver: "root"})
		if !errors.Is(err, tenant.ErrInvalid) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// What the operator grants in the provider's own policy is not asked again.
func TestThePolicyOfTheProviderApprovesInAdvance(t *testing.T) {
	f := open(t, func(of *tenant.Tenant, _ *tenant.Plan) { of.Providers[1].Policy = *kv(10) })
	f.push(guesttest.Binary(t, "hello"), func(p *deploy.Push) { p.Policy = kv(5) })
	if v := f.settled(1); v.State != tenant.StateApproved || v.Policy.KV == nil || v.Policy.KV.MaxKeys != 5 {
		t.Errorf("got %+v", v)
	}
}

func TestTwoDeployersDoNotReplaceEachOther(t *testing.T) {
	f := open(t, nil)
	hello := guesttest.Binary(t, "hello")
	var together sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		together.Go(func() {
			_, errs[i] = f.Push(t.Context(), deploy.Push{Provider: notes, Body: bytes.NewReader(variant(hello, 10+i)), Actor: fmt.Sprint("deployer ", i)})
		})
	}
	together.Wait()
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, tenant.ErrConflict) || !strings.Contains(err.Error(), "of deployer"):
			t.Errorf("got %v", err)
		}
	}
	if won != 1 {
		t.Errorf("%d have won: %v", won, errs)
	}
	f.settled(1)
}

func TestAPlanBoundsModules(t *testing.T) {
	hello := guesttest.Binary(t, "hello")
	f := open(t, func(_ *tenant.Tenant, p *tenant.Plan) { p.Modules = int64(len(hello)) + 100 })
	f.push(hello, nil)
	f.settled(1)
	_, err := f.Push(t.Context(), deploy.Push{Provider: notes, Body: bytes.NewReader(variant(hello, 2))})
	if !deploy.IsTooLarge(err) || !strings.Contains(err.Error(), "storage.modules") {
		t.Errorf("got %v", err)
	}
	_, err = f.Push(t.Context(), deploy.Push{Provider: notes, Body: bytes.NewReader(make([]byte, len(hello)+101))})
	if !deploy.IsTooLarge(err) {
		t.Errorf("got %v", err)
	}
	if err := f.Tidy(t.Context()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(f.data, "blobs", "sha256")); err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestAProviderOfAFileIsNotDeployed(t *testing.T) {
	f := open(t, nil)
	for name, want := range map[string]error{"fixed": tenant.ErrOwned, "none": tenant.ErrInvalid} {
		_, err := f.Push(t.Context(), deploy.Push{Provider: tenant.ProviderID{Tenant: "acme", Provider: name}, Body: strings.NewReader("")})
		if !errors.Is(err, want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A stopping store makes so many changes of a Deployer, and fails then, as for a server that is killed.
type stopping struct {
	*store.Store
	mu   sync.Mutex
	left int
	dead chan struct{} // closed when none is left
}

func (s *stopping) Apply(ctx context.Context, c tenant.Change) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left--; s.left < 0 {
		if s.left == -1 {
			close(s.dead)
		}
		return 0, tenant.ErrClosed
	}
	return s.Store.Apply(ctx, c)
}

// The work on a version ends after each of its steps, and another server goes on from there.
func TestTheNextServerGoesOn(t *testing.T) {
	hello := guesttest.Binary(t, "hello")
	f := open(t, nil)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	states := []tenant.VersionState{tenant.StatePushed, tenant.StateAdmitted, tenant.StateCompiled, tenant.StateTried}
	for i, state := range states {
		s := &stopping{Store: f.store, left: i + 1, dead: make(chan struct{})}
		cfg := f.cfg
		cfg.Store = s
		f.start(cfg)
		f.push(variant(hello, i), nil)
		<-s.dead
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if v := f.store.Snapshot().VersionOf(notes, i+1); v.State != state {
			t.Errorf("after %d changes it is %s, want %s", i+1, v.State, state)
		}
		f.start(f.cfg)
		if v := f.settled(i + 1); v.State != tenant.StateApproved || f.store.Snapshot().Routes[notes].Active != i+1 {
			t.Errorf("got %+v", v)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	f.start(f.cfg)
}

func TestADamagedModuleIsNotRun(t *testing.T) {
	hello := guesttest.Binary(t, "hello")
	f := open(t, nil)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s := &stopping{Store: f.store, left: 1, dead: make(chan struct{})}
	cfg := f.cfg
	cfg.Store = s
	f.start(cfg)
	v := f.push(hello, nil)
	<-s.dead
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(f.data, "blobs", "sha256", strings.TrimPrefix(v.Digest, "sha256:"))
	if err := os.Truncate(file, 1000); err != nil {
		t.Fatal(err)
	}
	f.start(f.cfg)
	if v := f.settled(1); v.State != tenant.StateRefused || !strings.Contains(v.Reason, "damaged") {
		t.Errorf("got %s: %s", v.State, v.Reason)
	}
	f.push(hello, nil)
	if v := f.settled(1); v.State != tenant.StateApproved {
		t.Errorf("pushed again: got %s: %s", v.State, v.Reason)
	}
}

func TestOldVersionsAreRemoved(t *testing.T) {
	f := open(t, nil)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	var all []*tenant.Version
	for n := 1; n <= 14; n++ {
		all = append(all, &tenant.Version{
			Tenant: "acme", Provider: "notes", Number: n, Digest: fmt.Sprintf("sha256:%064x", n), State: tenant.StateApproved,
			Created: now.Add(-time.Duration(40-n) * 24 * time.Hour), Decided: now.Add(-time.Duration(14-n) * 24 * time.Hour),
		})
	}
	all[13].State = tenant.StateWaiting
	f.apply(tenant.Change{SetVersions: all, SetRoutes: []*tenant.Route{{Tenant: "acme", Provider: "notes", Active: 1, Previous: 3}}})
	f.cfg.Now = func() time.Time { return now }
	f.start(f.cfg)
	left := func() (numbers []int) {
		if err := f.Tidy(t.Context()); err != nil {
			t.Error(err)
		}
		for _, v := range f.store.Snapshot().Versions[notes] {
			numbers = append(numbers, v.Number)
		}
		return numbers
	}
	if got := fmt.Sprint(left()); got != "[1 3 5 6 7 8 9 10 11 12 13 14]" {
		t.Errorf("left are %s", got)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f.cfg.Now = func() time.Time { return now.Add(25 * 24 * time.Hour) }
	f.start(f.cfg)
	if got := fmt.Sprint(left()); got != "[1 3 9 10 11 12 13 14]" {
		t.Errorf("30 days after they were decided, left are %s", got)
	}
}

// A failing store makes no change while it says why.
type failing struct {
	*store.Store
	err error
}

func (s *failing) Apply(ctx context.Context, c tenant.Change) (uint64, error) {
	if s.err != nil {
		return 0, s.err
	}
	return s.Store.Apply(ctx, c)
}

// A rollback takes effect before it is stored, and is taken back if it cannot be.
func TestARollbackIsAheadOfTheStore(t *testing.T) {
	f := open(t, nil)
	change := tenant.Change{SetRoutes: []*tenant.Route{{Tenant: "acme", Provider: "notes", Active: 2, Previous: 1}}}
	for number := 1; number <= 2; number++ {
		change.SetVersions = append(change.SetVersions, &tenant.Version{
			Tenant: "acme", Provider: "notes", Number: number, Digest: fmt.Sprintf("sha256:%064x", number), State: tenant.StateApproved,
		})
	}
	f.apply(change)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	to, served := &failing{f.store, tenant.ErrUnavailable}, 2
	cfg := f.cfg
	cfg.Store = to
	cfg.Ahead = func(s *tenant.Snapshot, next *tenant.Route) func() {
		if s != f.store.Snapshot() || s.Routes[notes].Active != 2 {
			t.Errorf("the route to %d is ahead of %+v", next.Active, s.Routes[notes])
		}
		served = next.Active
		return func() { served = s.Routes[notes].Active }
	}
	f.start(cfg)
	if err := f.Rollback(t.Context(), notes, "ada", nil); !errors.Is(err, tenant.ErrUnavailable) || served != 2 {
		t.Errorf("got %v, and version %d serves, though nothing was stored", err, served)
	}
	to.err = nil
	if err := f.Rollback(t.Context(), notes, "ada", nil); err != nil || served != 1 || f.store.Snapshot().Routes[notes].Active != 1 {
		t.Errorf("got %v, and version %d serves", err, served)
	}
}
