package admin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/tenant"
)

func acme() *tenant.Tenant {
	return &tenant.Tenant{
		ID: "acme", Plan: "small", Owner: tenant.OwnerFiles, Hosts: []string{"acme.example"}, Digest: "d1",
		Providers: []tenant.Provider{{Name: "notes", Module: "/srv/notes.wasm"}, {Name: "wiki", Module: "ghcr.io/ada/wiki:1"}},
		Roles:     []tenant.Role{{Name: "editor"}, {Name: "reader"}},
	}
}

// open serves a Host and returns a client of it.
func open(t *testing.T, h *admintest.Host) *admin.Client {
	t.Helper()
	c := admin.NewClient(h.Serve(t))
	t.Cleanup(c.Close)
	return c
}

// problem checks that an error is a problem with a code, and returns its detail.
func problem(t *testing.T, err error, status int, code string) string {
	t.Helper()
	var p *admin.Problem
	if !errors.As(err, &p) || p.Status != status || p.Code != code || p.Title != http.StatusText(status) {
		t.Errorf("got %#v, want %d %s", err, status, code)
		return ""
	}
	return p.Detail
}

func TestKeys(t *testing.T) {
	h := admintest.New(t, acme(), &tenant.Tenant{ID: "beta"})
	c, ctx := open(t, h), t.Context()
	made, err := c.CreateKey(ctx, "acme", admin.NewKey{Name: "ada", Roles: []string{"reader"}, URIs: []string{"notes://a/**"}, Networks: []string{"192.0.2.7/24", "2001:db8::1"}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(made.Text, "wr_"+made.ID+"_") || made.Expires == nil || time.Until(*made.Expires) < 89*24*time.Hour {
		t.Errorf("got %+v", made)
	}
	want := admin.Key{
		ID: made.ID, Tenant: "acme", Name: "ada", Roles: []string{"reader"}, URIs: []string{"notes://a/**"},
		Networks: []string{"192.0.2.0/24", "2001:db8::1/128"}, Created: made.Created, Creator: fmt.Sprintf("uid %d", os.Getuid()), Expires: made.Expires,
	}
	if diff := cmp.Diff(want, made.Key); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	for _, id := range []string{"acme", ""} {
		page, err := c.Keys(ctx, id, "")
		if diff := cmp.Diff(admin.Page[admin.Key]{Items: []admin.Key{want}}, page); diff != "" || err != nil {
			t.Errorf("%v, want -, got +:\n%s", err, diff)
		}
	}
	if page, err := c.Keys(ctx, "beta", ""); err != nil || len(page.Items) != 0 {
		t.Errorf("another tenant has %v, %v", page, err)
	}
	next, err := c.RotateKey(ctx, made.ID, time.Hour)
	if err != nil || next.ID == made.ID || next.Text == made.Text || !slices.Equal(next.Roles, made.Roles) {
		t.Errorf("rotated to %+v, %v", next, err)
	}
	if old := h.Snapshot().Keys[made.ID]; old.Expires.After(time.Now().Add(time.Hour)) {
		t.Errorf("the old key is good until %v", old.Expires)
	}
	if err := c.RevokeKey(ctx, made.ID); err != nil || h.Snapshot().Keys[made.ID] != nil {
		t.Errorf("not revoked: %v", err)
	}
	if detail := problem(t, c.RevokeKey(ctx, made.ID), 404, admin.CodeNoKey); !strings.HasPrefix(detail, "no key ") {
		t.Error(detail)
	}
	if detail := problem(t, c.RevokeKey(ctx, "ada"), 404, admin.CodeNoKey); !strings.Contains(detail, "has the ID "+next.ID) {
		t.Error(detail)
	}
	forever, err := c.CreateKey(ctx, "acme", admin.NewKey{Name: "ben", Roles: []string{"reader"}, Expires: admin.Never})
	if err != nil || forever.Expires != nil {
		t.Errorf("got %+v, %v", forever, err)
	}
}

func TestWrongKeys(t *testing.T) {
	h := admintest.New(t, acme(), &tenant.Tenant{ID: "bare"})
	h.SetProblems(map[string]string{"broken": "broken.yaml:1:1: no"})
	c, ctx := open(t, h), t.Context()
	good := admin.NewKey{Name: "ada", Roles: []string{"reader"}}
	with := func(change func(*admin.NewKey)) admin.NewKey {
		k := good
		change(&k)
		return k
	}
	many := make([]string, 65)
	for i := range many {
		many[i] = "reader"
	}
	for _, row := range []struct {
		tenant string
		key    admin.NewKey
		status int
		code   string
		detail string
	}{
		{"acm", good, 404, admin.CodeNoTenant, `no tenant "acm": did you mean acme?`},
		{"zzz", good, 404, admin.CodeNoTenant, `no tenant "zzz"`},
		{"../../x y", good, 404, admin.CodeNoTenant, `no tenant "../../x y"`},
		{"broken", good, 400, admin.CodeInvalid, `tenant "broken" cannot have keys before its files are right: broken.yaml:1:1: no`},
		{"bare", good, 400, admin.CodeInvalid, `tenant bare has no role "reader": tenant bare has no roles: write some into its file`},
		{"acme", with(func(k *admin.NewKey) { k.Roles = []string{"raeder"} }), 400, admin.CodeInvalid, `tenant acme has no role "raeder": did you mean reader?`},
		{"acme", with(func(k *admin.NewKey) { k.Roles = nil }), 400, admin.CodeInvalid, `a role is missing: tenant acme has editor, reader`},
		{"acme", with(func(k *admin.NewKey) { k.Name = "a b" }), 400, admin.CodeInvalid, `name: "a b" is not a name`},
		{"acme", with(func(k *admin.NewKey) { k.URIs = []string{"a b"} }), 400, admin.CodeInvalid, `uris: the pattern "a b" has a space`},
		{"acme", with(func(k *admin.NewKey) { k.Networks = []string{"10.0.0.0/33"} }), 400, admin.CodeInvalid, `networks: "10.0.0.0/33" is not a network`},
		{"acme", with(func(k *admin.NewKey) { k.Expires = "2001-01-01T00:00:00Z" }), 400, admin.CodeInvalid, `expires "2001-01-01T00:00:00Z": it must be a time to come`},
		{"acme", with(func(k *admin.NewKey) { k.Expires = "30d" }), 400, admin.CodeInvalid, `expires "30d"`},
		{"acme", with(func(k *admin.NewKey) { k.Roles = many }), 400, admin.CodeInvalid, `at most 64`},
		{"acme", with(func(k *admin.NewKey) { k.Name = strings.Repeat("x", 100_000) }), 413, admin.CodeTooLarge, `more than 65536 bytes`},
	} {
		_, err := c.CreateKey(ctx, row.tenant, row.key)
		if detail := problem(t, err, row.status, row.code); !strings.Contains(detail, row.detail) {
			t.Errorf("got %s, want %s", detail, row.detail)
		}
	}
	if n := len(h.Snapshot().Keys); n != 0 {
		t.Errorf("%d keys were made", n)
	}
	_, err := c.RotateKey(ctx, "x", 31*24*time.Hour)
	problem(t, err, 400, admin.CodeInvalid)
	for failure, code := range map[error]string{tenant.ErrConflict: admin.CodeConflict, tenant.ErrOwned: admin.CodeOwned} {
		h.SetFailure(fmt.Errorf("apply: %w", failure))
		_, err := c.CreateKey(ctx, "acme", good)
		problem(t, err, 409, code)
	}
	h.SetFailure(tenant.ErrUnavailable)
	_, err = c.CreateKey(ctx, "acme", good)
	problem(t, err, 503, admin.CodeUnavailable)
}

func TestTenants(t *testing.T) {
	var all []*tenant.Tenant
	for i := range 450 {
		all = append(all, &tenant.Tenant{ID: fmt.Sprintf("t%03d", i)})
	}
	h := admintest.New(t, append(all, acme())...)
	h.SetProblems(map[string]string{"acme": "acme.yaml:3:1: unknown key", "never-right": "never-right.yaml:1:1: empty"})
	h.SetGone(map[string]time.Time{"old": time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)})
	started := time.Date(2026, 11, 24, 2, 0, 0, 0, time.UTC)
	h.SetStates("acme", map[string]admin.State{"wiki": {Name: "live", Processes: 2, Memory: 3 << 20, LastStart: started}})
	c, ctx := open(t, h), t.Context()
	var ids []string
	for cursor, pages := "", 0; ; pages++ {
		page, err := c.Tenants(ctx, cursor, false)
		if err != nil || len(page.Items) > admin.MaxPage || pages > 2 {
			t.Fatalf("page %d has %d items, %v", pages, len(page.Items), err)
		}
		for _, item := range page.Items {
			ids = append(ids, item.ID)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if len(ids) != 452 || !slices.IsSorted(ids) || ids[0] != "acme" || ids[451] != "t449" {
		t.Errorf("got %d tenants: %v", len(ids), ids)
	}
	stale, err := c.Tenants(ctx, "", true)
	want := []admin.TenantSummary{
		{ID: "acme", Plan: "small", Owner: tenant.OwnerFiles, Providers: 2, Live: 1, Problem: "acme.yaml:3:1: unknown key"},
		{ID: "never-right", Problem: "never-right.yaml:1:1: empty"},
	}
	if diff := cmp.Diff(want, stale.Items); diff != "" || err != nil {
		t.Errorf("%v, want -, got +:\n%s", err, diff)
	}
	shown, err := c.Tenant(ctx, "acme")
	wantTenant := admin.Tenant{
		TenantSummary: want[0], Hosts: []string{"acme.example"}, Roles: []string{"editor", "reader"}, Digest: "d1",
		Modules: []admin.Provider{{Name: "notes", Module: "/srv/notes.wasm", State: "cold"}, {Name: "wiki", Module: "ghcr.io/ada/wiki:1", State: "live", Processes: 2, Memory: 3 << 20, LastStart: &started}},
	}
	if diff := cmp.Diff(wantTenant, shown); diff != "" || err != nil {
		t.Errorf("%v, want -, got +:\n%s", err, diff)
	}
	if broken, err := c.Tenant(ctx, "never-right"); err != nil || broken.Problem == "" {
		t.Errorf("got %+v, %v", broken, err)
	}
	_, err = c.Tenant(ctx, "old")
	if detail := problem(t, err, 404, admin.CodeNoTenant); detail != `no tenant "old" any more: it was removed at 2026-11-01T00:00:00Z` {
		t.Error(detail)
	}
	node, err := c.Node(ctx)
	if err != nil || node.Tenants != 451 || node.Stale != 2 || node.Generation != 1 || node.Version != "v1.2.3" {
		t.Errorf("got %+v, %v", node, err)
	}
}

func TestReloadAndTop(t *testing.T) {
	h := admintest.New(t, acme(), &tenant.Tenant{ID: "beta"})
	c, ctx := open(t, h), t.Context()
	changed := acme()
	changed.Digest = "d2"
	next := admintest.New(t, changed, &tenant.Tenant{ID: "new"}).Snapshot()
	next.Generation = 7
	h.SetReload(func() (*tenant.Snapshot, error) { return next, nil })
	report, err := c.Reload(ctx)
	if diff := cmp.Diff(admin.Report{Generation: 7, Tenants: 2, Set: []string{"acme", "new"}, Removed: []string{"beta"}}, report); diff != "" || err != nil {
		t.Errorf("%v, want -, got +:\n%s", err, diff)
	}
	h.SetReload(func() (*tenant.Snapshot, error) { return nil, errors.New("serve.yaml:2:1: unknown key") })
	_, err = c.Reload(ctx)
	if detail := problem(t, err, 422, admin.CodeInvalid); detail != "serve.yaml:2:1: unknown key" {
		t.Error(detail)
	}
	loads := []admin.Load{{Tenant: "acme", PerSecond: 412.5, P99Micros: 2100, Live: 2, Providers: 4, Bytes: 11 << 20, Limited: 3}, {Tenant: "new"}}
	h.SetLoads(loads...)
	top, err := c.Top(ctx, 1)
	if diff := cmp.Diff(loads[:1], top.Loads); diff != "" || err != nil || top.Node.Tenants != 2 {
		t.Errorf("%+v, %v, want -, got +:\n%s", top.Node, err, diff)
	}
}

// raw sends a request that the client would not.
func raw(t *testing.T, socket, method, path, body string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://wasmres"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return send(t, socket, r)
}

func send(t *testing.T, socket string, r *http.Request) (*http.Response, string) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

func TestWrongRequests(t *testing.T) {
	socket := admintest.New(t, acme()).Serve(t)
	for _, row := range []struct {
		method, path, body string
		status             int
		code               string
	}{
		{"GET", "/", "", 404, admin.CodeNotFound},
		{"GET", "/v1/tenant", "", 404, admin.CodeNotFound},
		{"DELETE", "/v1/tenants", "", 405, admin.CodeMethod},
		{"GET", "/v1/reload", "", 405, admin.CodeMethod},
		{"GET", "/v1/tenants?limit=201", "", 400, admin.CodeInvalid},
		{"GET", "/v1/tenants?limit=0", "", 400, admin.CodeInvalid},
		{"GET", "/v1/tenants?stale=maybe", "", 400, admin.CodeInvalid},
		{"GET", "/v1/tenants?cursor=" + strings.Repeat("x", 257), "", 400, admin.CodeInvalid},
		{"GET", "/v1/top?limit=x", "", 400, admin.CodeInvalid},
		{"POST", "/v1/tenants/acme/keys", "", 415, admin.CodeMediaType},
		{"POST", "/v1/tenants/acme/keys", "[]", 400, admin.CodeInvalid},
		{"POST", "/v1/tenants/acme/keys", `{"nam":"x"}`, 400, admin.CodeInvalid},
		{"POST", "/v1/tenants/acme/keys", `{"name":"x","roles":["reader"]} {}`, 400, admin.CodeInvalid},
		{"POST", "/v1/tenants/acme/keys", `{"name":"` + strings.Repeat("x", 70_000), 413, admin.CodeTooLarge},
		{"POST", "/v1/keys/x/rotate", `{"graceSeconds":-1}`, 400, admin.CodeInvalid},
		{"POST", "/v1/keys/x/rotate", `{"graceSeconds":1e99}`, 400, admin.CodeInvalid},
	} {
		answer, text := raw(t, socket, row.method, row.path, row.body)
		var p admin.Problem
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatalf("%s %s: %v: %s", row.method, row.path, err, text)
		}
		if answer.StatusCode != row.status || p.Status != row.status || p.Code != row.code || p.Detail == "" || answer.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: got %d %s", row.method, row.path, answer.StatusCode, text)
		}
	}
}

func TestListen(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	refused := func(path, want string) {
		t.Helper()
		l, err := admin.Listen(ctx, path)
		if err == nil {
			l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
	l, err := admin.Listen(ctx, at("new/folder/admin.sock"))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(at("new/folder")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v, %v", info.Mode(), err)
	}
	refused(at("new/folder/admin.sock"), "another server listens there")
	l.(*net.UnixListener).SetUnlinkOnClose(false) // as after SIGKILL
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if l, err = admin.Listen(ctx, at("new/folder/admin.sock")); err != nil {
		t.Fatalf("a stale socket was not replaced: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(at("new/folder/admin.sock")); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
	refused(at(strings.Repeat("x", 200)), "that of a socket at most 107: choose a shorter one")
	refused("", "it must be the path of a file")
	refused("@abstract", "it must be the path of a file")
	if err := errors.Join(os.WriteFile(at("file"), []byte("mine"), 0o600), os.Mkdir(at("open"), 0o700), os.Chmod(at("open"), 0o777)); err != nil {
		t.Fatal(err)
	}
	refused(at("file"), "there is a file that is no socket")
	if text, _ := os.ReadFile(at("file")); string(text) != "mine" {
		t.Error("the file was replaced")
	}
	refused(at("open/admin.sock"), "other users can write to its folder")
	refused(at("file/admin.sock"), "not a directory")
}

func TestNoServer(t *testing.T) {
	dir := t.TempDir()
	stale := filepath.Join(dir, "stale.sock")
	l, err := net.Listen("unix", stale)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	for _, socket := range []string{filepath.Join(dir, "none.sock"), stale, filepath.Join(dir, strings.Repeat("x", 200))} {
		c := admin.NewClient(socket)
		if _, err := c.Node(t.Context()); !errors.Is(err, admin.ErrUnreachable) || !strings.Contains(err.Error(), socket) {
			t.Errorf("got %v", err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stopped")
	cancel(stop)
	if _, err := admin.NewClient(stale).Node(ctx); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

// A program that answers in its own way confuses no client.
func TestForeignAnswers(t *testing.T) {
	for name, text := range map[string]string{
		"page":    "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello",
		"json":    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n[1,2]",
		"endless": "HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 9<<20),
		"nothing": "",
	} {
		socket := filepath.Join(t.TempDir(), "s")
		l, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c.Read(make([]byte, 4096))
				_, _ = io.WriteString(c, text)
				_ = c.Close()
			}
		}()
		if node, err := admin.NewClient(socket).Node(t.Context()); err == nil {
			t.Errorf("%s: got %+v", name, node)
		}
		l.Close()
	}
}

func TestProbes(t *testing.T) {
	reasons := []string{"the store is being opened"}
	p := admin.NewProbes(admin.ProbeConfig{
		NotReady: func() []string { return reasons },
		Metrics:  http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "metrics") }),
	})
	l, err := admin.ListenProbes(t.Context(), ":0")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(l.Addr().String(), "127.0.0.1:") {
		t.Errorf("it listens at %s", l.Addr())
	}
	admintest.Until(t, func(ctx context.Context) error { return p.Serve(ctx, l) })
	get := func(path, host string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, strings.TrimSpace(string(text))
	}
	check := func(path, host string, status int, want string) {
		t.Helper()
		if got, text := get(path, host); got != status || !strings.Contains(text, want) {
			t.Errorf("%s of %s: got %d %s", path, host, got, text)
		}
	}
	check("/healthz", "", 200, "ok")
	check("/readyz", "localhost:1", 503, "not ready: the store is being opened")
	reasons = nil
	check("/readyz", "", 200, "ready")
	check("/metrics", "[::1]:80", 200, "metrics")
	check("/metrics", "evil.example", 421, "")
	check("/v1/node", "", 404, "")
	for _, address := range []string{"9090", "127.0.0.1:x", "192.0.2.1:1"} {
		if l, err := admin.ListenProbes(t.Context(), address); err == nil {
			l.Close()
			t.Errorf("it listens at %s", address)
		} else if !strings.Contains(err.Error(), address) {
			t.Error(err)
		}
	}
}

// A connection that was not asked for its user has none that is permitted.
func TestAnUnknownUserIsRefused(t *testing.T) {
	h := admintest.New(t, acme())
	server, err := admin.New(h.Config())
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	admin.Unknown(server).ServeHTTP(w, httptest.NewRequest("GET", "/v1/node", nil))
	if w.Code != http.StatusForbidden {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// Whatever a request is, it gets an answer: one of its endpoint, or a problem with a code.
func FuzzRequest(f *testing.F) {
	f.Add("POST", "/v1/tenants/acme/keys", []byte(`{"name":"ada","roles":["reader"],"uris":["notes://**"],"networks":["::1"],"expires":"never"}`))
	f.Add("POST", "/v1/keys/abc/rotate", []byte(`{"graceSeconds":60}`))
	f.Add("GET", "/v1/tenants?limit=3&cursor=acme%2Fx&stale=true", []byte{})
	f.Add("DELETE", "/v1/keys/%00", []byte("{"))
	h := admintest.New(f, acme())
	server, err := admin.New(h.Config())
	if err != nil {
		f.Fatal(err)
	}
	handler := admin.Permitted(server)
	f.Fuzz(func(t *testing.T, method, target string, body []byte) {
		r, err := http.NewRequest(method, target, bytes.NewReader(body))
		if err != nil || !strings.HasPrefix(target, "/") {
			return
		}
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code >= 500 || len(w.Body.Bytes()) > 1<<20 {
			t.Fatalf("status %d, %d bytes: %s", w.Code, w.Body.Len(), w.Body)
		}
		if w.Code < 400 {
			return
		}
		var p admin.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Code == "" || p.Detail == "" {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
	})
}
