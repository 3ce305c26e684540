package dashboard_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/crashes"
	"github.com/wasmres/wasmres/internal/guestlog"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/usage"
)

// hostile is what a provider, a client or a file may say.
var hostile = `<script>alert(1)</script><img src=x onerror=alert(1)>"'` + "\u202egpj.exe\x1b[2J\u2066\u200b\x00" + strings.Repeat("<&", 6000)

// A crashBook has one crash with a session.
type crashBook struct{ crashes.Report }

func (b crashBook) List(id string) (found []crashes.Report, err error) {
	if id == b.Tenant {
		found = append(found, b.Report)
	}
	return found, nil
}

func (b crashBook) Find(id string, tenants []string) (crashes.Report, error) {
	if id != b.ID || !slices.Contains(tenants, b.Tenant) {
		return crashes.Report{}, crashes.ErrNotFound
	}
	return b.Report, nil
}

func (b crashBook) Session(crashes.Report) ([]byte, error) { return []byte("the session"), nil }

// serveAll serves pages that have something hostile to show everywhere.
func serveAll(tb testing.TB) *site {
	tb.Helper()
	h := admintest.New(tb, &tenant.Tenant{ID: "acme", Owner: tenant.OwnerAPI, Roles: []tenant.Role{{Name: "reader"}}, Providers: []tenant.Provider{{Name: "notes"}}}, &tenant.Tenant{ID: "beta"})
	push(tb, h)
	h.SetStates("acme", map[string]admin.State{"notes": {Name: "refused", Reason: hostile}})
	logs, err := guestlog.Open(guestlog.Config{Dir: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = logs.Close() })
	for range 40 {
		logs.Add("acme", guestlog.Line{Time: time.Now(), Level: slog.LevelInfo, Provider: "notes", Text: hostile})
	}
	logs.Add("acme", guestlog.Line{Time: time.Now(), Level: slog.LevelInfo, Provider: "notes", Text: "the newest line"})
	frames := make([]crashes.Frame, 20)
	for i := range frames {
		frames[i] = crashes.Frame{Function: uint32(i), Name: hostile[:4000]}
	}
	today := time.Now().UTC().Truncate(24 * time.Hour)
	rows := []usage.Row{
		{Begin: today, Key: usage.Key{Tenant: "acme"}, Totals: usage.Totals{Requests: [4]uint64{7, 1, 0, 2}}},
		{Begin: today, Key: usage.Key{Tenant: "acme", Provider: "notes", Version: 3}, Totals: usage.Totals{Requests: [4]uint64{7, 0, 0, 2}, CPU: 1500 * time.Millisecond}},
	}
	line := &ledger.Line{Seq: 1, Time: time.Now(), Node: "n", Entry: ledger.Entry{Action: hostile, Actor: hostile[:200], Object: hostile[:200], Outcome: hostile[:200], Before: `{"a":1}`, After: hostile[:2000]}}
	return serve(tb, h, func(cfg *admin.Config) {
		cfg.Versions = deployed{host: h}
		cfg.Logs = logs
		cfg.Usage = func(context.Context, usage.Query) ([]usage.Row, error) { return rows, nil }
		cfg.Crashes = crashBook{crashes.Report{ID: "0123456789abcdef", Tenant: "acme", Provider: "notes", Code: "trap", Reason: hostile[:4000], Stack: frames, Lines: slices.Repeat([]string{hostile[:4000]}, 50), Session: 11, Count: 3, Last: time.Now()}}
		cfg.Audit = func(context.Context, ledger.Query) (ledger.Found, error) {
			return ledger.Found{Lines: slices.Repeat([]*ledger.Line{line}, 50)[:50]}, nil
		}
	})
}

// paths are those of all pages.
var paths = []string{
	"/ui/", "/ui/tenants", "/ui/tenants/acme", "/ui/tenants/acme/keys", "/ui/tenants/acme/usage", "/ui/tenants/acme/crashes", "/ui/tenants/acme/log",
	"/ui/tenants/acme/providers/notes", versionPath, "/ui/tenants/acme/providers/notes/versions/1",
	"/ui/rollouts", "/ui/usage", "/ui/crashes", "/ui/crashes/0123456789abcdef", "/ui/ledger", "/ui/keys", "/ui/admin-keys",
}

func TestPagesShowTextsOfOthersAsTexts(t *testing.T) {
	b := serveAll(t).signedIn(t, admin.Operator, "")
	for _, path := range paths {
		status, page := b.get(t, path)
		if status != http.StatusOK {
			t.Errorf("%s: got %d %s", path, status, page)
		}
		if len(page) > maxPage {
			t.Errorf("%s has %d bytes", path, len(page))
		}
		for _, bad := range []string{"<script>alert", "<img", "\u202e", "\u2066", "\u200b", "\x1b", "\x00", " style=", "<style", " onerror=alert(1)>\""} {
			if strings.Contains(page, bad) {
				t.Errorf("%s has %q", path, bad)
			}
		}
	}
	_, log := b.get(t, "/ui/tenants/acme/log")
	if !strings.Contains(log, "the newest line") || !strings.Contains(log, "has older ones") {
		t.Errorf("the log is %s", log)
	}
}

// Each role sees the pages that it may use, and a link to a page leads to one that it may use.
func TestPagesOfRoles(t *testing.T) {
	if testing.Short() {
		t.Skip("it asks for each page with each role")
	}
	s := serveAll(t)
	link := regexp.MustCompile(`href="(/ui/[^"?]*)`)
	for _, role := range admin.Roles {
		for _, id := range []string{"", "acme"} {
			if tenant.CheckAdminRole(string(role), id) != nil || (id == "") != (role == admin.Operator) {
				continue
			}
			b := s.signedIn(t, role, id)
			seen := map[string]bool{}
			for todo := []string{"/ui/"}; len(todo) > 0; todo = todo[1:] {
				path := todo[0]
				if seen[path] || strings.Contains(path, ".") || strings.HasPrefix(path, "/ui/ledger/") {
					continue
				}
				seen[path] = true
				status, page := b.get(t, path)
				if status != http.StatusOK {
					t.Errorf("%s of %q: a link leads to %s: got %d", role, id, path, status)
				}
				for _, found := range link.FindAllStringSubmatch(page, -1) {
					todo = append(todo, found[1])
				}
			}
			mayAudit, mayLog := role != admin.Deployer, role != admin.Auditor
			if seen["/ui/tenants/acme/keys"] != mayAudit || seen["/ui/ledger"] != mayAudit || seen["/ui/tenants/acme/log"] != mayLog || seen["/ui/admin-keys"] != (role == admin.Operator && id == "") {
				t.Errorf("%s of %q found %v", role, id, seen)
			}
		}
	}
}

var onceField = regexp.MustCompile(`name="once" value="([^"]+)"><input type="hidden" name="at" value="([^"]+)"`)

func TestKeysAreMadeOnceAndShownOnce(t *testing.T) {
	s := serveAll(t)
	b := s.signedIn(t, admin.TenantAdmin, "acme")
	_, page := b.get(t, "/ui/tenants/acme/keys")
	hidden := onceField.FindStringSubmatch(page)
	if hidden == nil {
		t.Fatalf("there is no form: %s", page)
	}
	form := url.Values{"once": {hidden[1]}, "at": {hidden[2]}, "name": {"ci"}, "role": {"reader"}, "life": {"30"}}
	text := regexp.MustCompile(`wr_[A-Za-z0-9_-]{20,}`)
	_, first := b.post(t, "/ui/tenants/acme/keys", form)
	_, second := b.post(t, "/ui/tenants/acme/keys", form) // the browser sends it again
	if text.FindString(first) == "" || text.FindString(first) != text.FindString(second) {
		t.Fatalf("got %s and %s", first, second)
	}
	if n := len(s.Snapshot().Keys); n != 1 {
		t.Fatalf("there are %d keys", n)
	}
	var id string
	for id = range s.Snapshot().Keys {
	}
	if _, page := b.get(t, "/ui/tenants/acme/keys"); strings.Contains(page, text.FindString(first)) || !strings.Contains(page, id) {
		t.Errorf("the list is %s", page)
	}
	if status, _ := s.signedIn(t, admin.Auditor, "acme").post(t, "/ui/keys/"+id+"/revoke", url.Values{"tenant": {"acme"}}); status != http.StatusForbidden || len(s.Snapshot().Keys) != 1 {
		t.Errorf("an auditor revokes a key: got %d", status)
	}
	if _, page := b.post(t, "/ui/keys/"+id+"/revoke", url.Values{"tenant": {"acme"}}); !strings.Contains(page, "The key is revoked") || len(s.Snapshot().Keys) != 0 {
		t.Errorf("after revoking: got %s", page)
	}
}

func TestBadForms(t *testing.T) {
	b := serveAll(t).signedIn(t, admin.Operator, "")
	for name, c := range map[string]struct {
		path   string
		form   url.Values
		status int
	}{
		"no role":         {"/ui/tenants/acme/keys", url.Values{"name": {"x"}, "life": {"30"}}, http.StatusBadRequest},
		"a strange life":  {"/ui/tenants/acme/keys", url.Values{"name": {"x"}, "role": {"reader"}, "life": {"-1"}}, http.StatusBadRequest},
		"no such tenant":  {"/ui/tenants/none/keys", url.Values{"name": {"x"}, "role": {"reader"}, "life": {"30"}}, http.StatusNotFound},
		"a short once":    {"/ui/tenants/acme/keys", url.Values{"once": {"x"}, "name": {"x"}, "role": {"reader"}, "life": {"30"}}, http.StatusBadRequest},
		"a large form":    {"/ui/tenants/acme/keys", url.Values{"name": {strings.Repeat("x", 1<<20)}}, http.StatusRequestEntityTooLarge},
		"a page":          {"/ui/tenants/acme", nil, http.StatusNotFound},
		"no such key":     {"/ui/keys/none/revoke", nil, http.StatusNotFound},
		"no such page":    {"/ui/none", nil, http.StatusNotFound},
		"a tenant's role": {"/ui/admin-keys", url.Values{"name": {"x"}, "role": {"tenant-admin"}, "life": {"7"}}, http.StatusBadRequest},
	} {
		if status, page := b.post(t, c.path, c.form); status != c.status || !strings.Contains(page, `role="alert"`) {
			t.Errorf("%s: got %d %s", name, status, page)
		}
	}
}

func TestSessionsOfCrashesAreSaved(t *testing.T) {
	s := serveAll(t)
	if _, text := s.signedIn(t, admin.Deployer, "").get(t, "/ui/crashes/0123456789abcdef/session"); text != "the session" {
		t.Errorf("got %q", text)
	}
	if status, _ := s.signedIn(t, admin.Auditor, "").get(t, "/ui/crashes/0123456789abcdef/session"); status != http.StatusForbidden {
		t.Errorf("an auditor gets %d", status)
	}
	if status, _ := s.signedIn(t, admin.Deployer, "beta").get(t, "/ui/crashes/0123456789abcdef"); status == http.StatusOK {
		t.Error("a deployer of another tenant sees the crash")
	}
}

func TestUsage(t *testing.T) {
	_, page := serveAll(t).signedIn(t, admin.Operator, "").get(t, "/ui/tenants/acme/usage")
	for _, part := range []string{"<dt>Processor time</dt><dd>1.5 s</dd>", `: 7 ok, 1 refused, 0 limited, 2 failed</title>`, `<th scope="row">notes</th><td class="n">3</td>`} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %s: %s", part, page)
		}
	}
}
