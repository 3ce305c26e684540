package dashboard_test

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/tenant"
)

var notes = tenant.ProviderID{Tenant: "acme", Provider: "notes"}

// deployed writes the decisions of operators into a store, without anything that serves.
type deployed struct {
	admin.Versions
	host *admintest.Host
}

func (d deployed) set(ctx context.Context, number int, state tenant.VersionState, reason, actor string) error {
	next := *d.host.Snapshot().VersionOf(notes, number)
	next.State, next.Reason, next.Decider, next.Decided = state, reason, actor, time.Now()
	_, err := d.host.Apply(ctx, tenant.Change{Actor: actor, SetVersions: []*tenant.Version{&next}})
	return err
}

func (d deployed) Approve(ctx context.Context, _ tenant.ProviderID, number int, actor string) error {
	return d.set(ctx, number, tenant.StateApproved, "", actor)
}

func (d deployed) Reject(ctx context.Context, _ tenant.ProviderID, number int, reason, actor string) error {
	return d.set(ctx, number, tenant.StateRejected, reason, actor)
}

func (d deployed) route(ctx context.Context, active, previous int, actor string, mayChange func(*tenant.Route) error) error {
	if err := mayChange(d.host.Snapshot().Routes[notes]); err != nil {
		return err
	}
	next := &tenant.Route{Tenant: notes.Tenant, Provider: notes.Provider, Active: active, Previous: previous, Changed: time.Now(), Changer: actor}
	_, err := d.host.Apply(ctx, tenant.Change{Actor: actor, SetRoutes: []*tenant.Route{next}})
	return err
}

func (d deployed) Promote(ctx context.Context, _ tenant.ProviderID, number int, actor string, mayChange func(*tenant.Route) error) error {
	return d.route(ctx, number, d.host.Snapshot().Routes[notes].Active, actor, mayChange)
}

func (d deployed) Rollback(ctx context.Context, _ tenant.ProviderID, actor string, mayChange func(*tenant.Route) error) error {
	return d.route(ctx, d.host.Snapshot().Routes[notes].Previous, 0, actor, mayChange)
}

func (d deployed) Watchers(string) int { return 7 }

func (d deployed) Trial(id tenant.ProviderID) *admin.Trial {
	route := d.host.Snapshot().Routes[id]
	if route == nil || route.Canary == 0 {
		return nil
	}
	return &admin.Trial{Version: route.Canary, Active: admin.Counts{Calls: 900, P99Micros: 1900}, Canary: admin.Counts{Calls: 100, Faults: 3, P99Micros: 2100}, Problem: hostile[:2000]}
}

// push makes versions of notes: the first is active, and the second asks for more and waits.
func push(tb testing.TB, h *admintest.Host) {
	tb.Helper()
	asked, err := policy.Parse("policy", []byte("version: \"1.0\"\npermissions: {network: {allow: [{host: evil.example}]}}"))
	if err != nil {
		tb.Fatal(err)
	}
	version := func(n int, state tenant.VersionState, p policy.Policy) *tenant.Version {
		return &tenant.Version{
			Tenant: "acme", Provider: "notes", Number: n, State: state, Digest: "sha256:" + strings.Repeat("0123456789abcdef", 4), Size: 1 << 20, Policy: p, HasPolicy: true,
			Created: time.Now(), Creator: "admin key x", Manifest: `{"name":"<script>alert(1)</script>\u202e"}`,
		}
	}
	first, second := version(1, tenant.StateApproved, policy.Policy{}), version(2, tenant.StateWaiting, *asked)
	for _, c := range []tenant.Change{
		{Actor: "test", SetVersions: []*tenant.Version{first}}, {Actor: "test", SetVersions: []*tenant.Version{second}},
		{Actor: "test", SetRoutes: []*tenant.Route{{Tenant: "acme", Provider: "notes", Active: 1}}},
	} {
		if _, err := h.Apply(tb.Context(), c); err != nil {
			tb.Fatal(err)
		}
	}
}

const versionPath = "/ui/tenants/acme/providers/notes/versions/2"

// formOf returns the hidden fields of the form with an action.
func formOf(t *testing.T, page, action string) url.Values {
	t.Helper()
	_, rest, ok := strings.Cut(page, `action="`+action+`"`)
	if !ok {
		t.Fatalf("there is no form with the action %s: %s", action, page)
	}
	form, _, _ := strings.Cut(rest, "</form>")
	values := url.Values{}
	for _, found := range regexp.MustCompile(`name="(once|tag)" value="([^"]*)"`).FindAllStringSubmatch(form, -1) {
		values.Set(found[1], html.UnescapeString(found[2]))
	}
	return values
}

func TestApproveAndPromote(t *testing.T) {
	s := serveAll(t)
	b := s.signedIn(t, admin.TenantAdmin, "acme")
	_, page := b.get(t, versionPath)
	if !strings.Contains(page, `<li class="more">+ <span>New: `) || !strings.Contains(page, "evil.example") {
		t.Errorf("the page does not show what is new: %s", page)
	}
	form := formOf(t, page, versionPath+"/approve")
	if _, page := b.post(t, versionPath+"/approve", form); !strings.Contains(page, "The version is approved.") {
		t.Fatalf("got %s", page)
	}
	if v := s.Snapshot().VersionOf(notes, 2); v.State != tenant.StateApproved || !strings.HasPrefix(v.Decider, "admin key ") {
		t.Fatalf("got %+v", v)
	}
	if _, again := b.post(t, versionPath+"/approve", form); !strings.Contains(again, "The version is approved.") {
		t.Errorf("sent again: got %s", again)
	}
	_, page = b.get(t, versionPath)
	if _, page = b.post(t, versionPath+"/promote", formOf(t, page, versionPath+"/promote")); !strings.Contains(page, "The version is active now.") || s.Snapshot().Routes[notes].Active != 2 {
		t.Fatalf("got %s", page)
	}
	provider := "/ui/tenants/acme/providers/notes"
	_, page = b.get(t, provider)
	if _, page = b.post(t, provider+"/rollback", formOf(t, page, provider+"/rollback")); s.Snapshot().Routes[notes].Active != 1 {
		t.Fatalf("got %s", page)
	}
}

// A form changes nothing if the version has changed since it was shown, or if it does not say what it has shown.
func TestStaleForms(t *testing.T) {
	s := serveAll(t)
	b := s.signedIn(t, admin.Operator, "")
	_, page := b.get(t, versionPath)
	form := formOf(t, page, versionPath+"/approve")
	changed := *s.Snapshot().VersionOf(notes, 2)
	changed.Reason = "something else"
	if _, err := s.Apply(t.Context(), tenant.Change{Actor: "test", SetVersions: []*tenant.Version{&changed}}); err != nil {
		t.Fatal(err)
	}
	if status, page := b.post(t, versionPath+"/approve", form); status != http.StatusPreconditionFailed || s.Snapshot().VersionOf(notes, 2).State != tenant.StateWaiting {
		t.Errorf("got %d %s", status, page)
	}
	if status, _ := b.post(t, versionPath+"/approve", url.Values{}); status != http.StatusBadRequest || s.Snapshot().VersionOf(notes, 2).State != tenant.StateWaiting {
		t.Errorf("without a tag: got %d", status)
	}
}

func TestReject(t *testing.T) {
	s := serveAll(t)
	b := s.signedIn(t, admin.Operator, "")
	_, page := b.get(t, versionPath)
	form := formOf(t, page, versionPath+"/reject")
	form.Set("reason", "<b>no</b>")
	if _, page := b.post(t, versionPath+"/reject", form); !strings.Contains(page, "&lt;b&gt;no&lt;/b&gt;") || s.Snapshot().VersionOf(notes, 2).State != tenant.StateRejected {
		t.Errorf("got %s", page)
	}
}

// A rollout is shown with what both versions did.
func TestRollouts(t *testing.T) {
	s := serveAll(t)
	third := *s.Snapshot().VersionOf(notes, 1)
	third.Number = 3
	route := &tenant.Route{Tenant: "acme", Provider: "notes", Active: 1, Canary: 3, Share: 10}
	for _, c := range []tenant.Change{{Actor: "test", SetVersions: []*tenant.Version{&third}}, {Actor: "test", SetRoutes: []*tenant.Route{route}}} {
		if _, err := s.Apply(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	b := s.signedIn(t, admin.Auditor, "acme")
	_, page := b.get(t, "/ui/tenants/acme/providers/notes")
	for _, want := range []string{"<title>version 3: 100</title>", "<title>version 3: 3</title>", "<title>version 1: 1.9 ms</title>", "Version 3 serves 10 %"} {
		if !strings.Contains(page, want) || len(page) > maxPage {
			t.Errorf("the page with %d bytes has no %s: %s", len(page), want, page)
		}
	}
	if _, page := b.get(t, "/ui/rollouts"); !strings.Contains(page, `/providers/notes">notes</a></th><td class="n">1</td><td class="n">3</td><td class="n">10 %</td><td class="n">100</td><td class="n">3</td>`) {
		t.Errorf("the list is %s", page)
	}
	if _, page := s.signedIn(t, admin.Auditor, "beta").get(t, "/ui/rollouts"); strings.Contains(page, "notes") {
		t.Errorf("another tenant sees %s", page)
	}
}

// Who may not decide sees no form for it, and one that they send all the same is refused.
func TestDecisionsOfRoles(t *testing.T) {
	s := serveAll(t)
	_, page := s.signedIn(t, admin.Operator, "").get(t, versionPath)
	tag := formOf(t, page, versionPath+"/approve")
	for _, role := range []admin.Role{admin.Deployer, admin.Auditor} {
		b := s.signedIn(t, role, "acme")
		if _, page := b.get(t, versionPath); strings.Contains(page, "/approve") || !strings.Contains(page, "evil.example") {
			t.Errorf("%s: got %s", role, page)
		}
		if status, _ := b.post(t, versionPath+"/approve", url.Values{"tag": tag["tag"]}); status != http.StatusForbidden || s.Snapshot().VersionOf(notes, 2).State != tenant.StateWaiting {
			t.Errorf("%s: got %d", role, status)
		}
	}
}
