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
	history := &admin.History{StepSeconds: 40}
	for i := range 48 {
		step := admin.Step{Active: admin.Counts{Calls: 90 + i%7, P99Micros: int64(1900 + 10*i)}, Canary: admin.Counts{Calls: 10 + i%3, Faults: i % 2, P99Micros: int64(2100 - 10*i)}}
		if i == 20 {
			step.Canary = admin.Counts{}
		}
		history.Steps = append(history.Steps, step)
	}
	return &admin.Trial{History: history, Version: route.Canary, Active: admin.Counts{Calls: 900, P99Micros: 1900}, Canary: admin.Counts{Calls: 100, Faults: 3, P99Micros: 2100}, Problem: hostile[:2000]}
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

// A form changes nothing if what it is about has changed since it was shown: the person gets the page as it is now.
func TestStaleForms(t *testing.T) {
	const provider = "/ui/tenants/acme/providers/notes"
	version := func(n int, change func(*tenant.Version)) func(*site) tenant.Change {
		return func(s *site) tenant.Change {
			next := *s.Snapshot().VersionOf(notes, n)
			change(&next)
			return tenant.Change{Actor: "test", SetVersions: []*tenant.Version{&next}}
		}
	}
	approved := version(2, func(v *tenant.Version) { v.State = tenant.StateApproved })
	reason := version(2, func(v *tenant.Version) { v.Reason = "something else" })
	route := func(active, previous int) func(*site) tenant.Change {
		return func(*site) tenant.Change {
			next := &tenant.Route{Tenant: "acme", Provider: "notes", Active: active, Previous: previous, Changer: "another person"}
			return tenant.Change{Actor: "test", SetRoutes: []*tenant.Route{next}}
		}
	}
	for name, c := range map[string]struct {
		before       []func(*site) tenant.Change // the page is loaded
		page, action string
		after        func(*site) tenant.Change
		shows        string
	}{
		"approve":  {nil, versionPath, versionPath + "/approve", reason, "something else"},
		"reject":   {nil, versionPath, versionPath + "/reject", approved, `<span class="state approved">`},
		"promote":  {[]func(*site) tenant.Change{approved}, versionPath, versionPath + "/promote", route(2, 1), `<span class="state active">`},
		"rollback": {[]func(*site) tenant.Change{approved, route(2, 1)}, provider, provider + "/rollback", route(1, 2), "This makes version 2 the active one again"},
	} {
		s := serveAll(t)
		b := s.signedIn(t, admin.Operator, "")
		apply := func(change func(*site) tenant.Change) {
			t.Helper()
			if _, err := s.Apply(t.Context(), change(s)); err != nil {
				t.Fatal(err)
			}
		}
		for _, change := range c.before {
			apply(change)
		}
		_, page := b.get(t, c.page)
		form := formOf(t, page, c.action)
		apply(c.after)
		before := s.Snapshot().Generation
		status, page := b.post(t, c.action, form)
		if status != http.StatusPreconditionFailed || s.Snapshot().Generation != before || !strings.Contains(page, "This changed meanwhile") || !strings.Contains(page, c.shows) {
			t.Errorf("%s: got %d %s", name, status, page)
		}
		if strings.Contains(page, "data-refresh") { // of a page whose URL no GET has
			t.Errorf("%s: the script would load the page again", name)
		}
		if status, _ := b.post(t, c.action, url.Values{}); status != http.StatusBadRequest || s.Snapshot().Generation != before {
			t.Errorf("%s without a tag: got %d", name, status)
		}
	}
	s := serveAll(t)
	b := s.signedIn(t, admin.Operator, "")
	_, page := b.get(t, versionPath)
	stale := formOf(t, page, versionPath+"/approve")
	if _, err := s.Apply(t.Context(), reason(s)); err != nil {
		t.Fatal(err)
	}
	_, page = b.post(t, versionPath+"/approve", stale)
	if _, page = b.post(t, versionPath+"/approve", formOf(t, page, versionPath+"/approve")); !strings.Contains(page, "The version is approved.") {
		t.Errorf("the form of the page that was shown instead: got %s", page)
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
	for _, want := range []string{`aria-label="Calls a minute over time: version 1 now 141, version 3 now 16"`, "Faults of 100 calls over time: version 1 now 0 %, version 3 now 0 %", "version 3 now 1.6 ms", "version 3, canary</li>", "31 min 20 s ago", "Version 3 serves 10 %"} {
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
