package node_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/tenant"
)

// All that the API has for versions, against its description: what is pushed serves, a route that another caller has changed is
// refused, and so is what the present state does not allow.
func TestVersionsByTheAPI(t *testing.T) {
	if testing.Short() {
		t.Skip("it pushes and tries many versions")
	}
	c := serveCrashing(t, "  notes: {}\n  fixed: {module: "+guesttest.File(t, "memory")+"}\n", "")
	socket := admintest.Validate(t, filepath.Join(c.data, admin.SocketName))
	api := admintest.Client(t, filepath.Join(c.data, admin.SocketName))
	hello := guesttest.Binary(t, "hello")
	code := func(what string, err error, want string) {
		t.Helper()
		if p := (*admin.Problem)(nil); !errors.As(err, &p) || p.Code != want {
			t.Errorf("%s: got %v, want the code %s", what, err, want)
		}
	}
	pushed := func(n admin.NewVersion, module []byte) admin.Version {
		t.Helper()
		v, err := api.PushVersion(t.Context(), "acme", "notes", n, bytes.NewReader(module))
		if err != nil {
			t.Fatal(err)
		}
		for ; v.State == tenant.StatePushed || v.State == tenant.StateAdmitted || v.State == tenant.StateCompiled || v.State == tenant.StateTried; time.Sleep(10 * time.Millisecond) {
			if v, err = api.Version(t.Context(), "acme", "notes", v.Number); err != nil {
				t.Fatal(err)
			}
		}
		return v
	}
	if v := pushed(admin.NewVersion{Next: "promote"}, hello); v.State != tenant.StateApproved || v.Route != "active" || !strings.Contains(string(v.Report), `"errors":0`) {
		t.Fatalf("got %+v", v)
	}
	get, err := http.Get("http://" + c.address + "/t/acme/mcp?uri=hello://about")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(get.Body)
	if get.Body.Close(); err != nil || !strings.Contains(string(text), "greeting") {
		t.Errorf("got %d %s, %v", get.StatusCode, text, err)
	}

	asks := admin.NewVersion{Next: "promote", Policy: "version: \"1.0\"\npermissions:\n  kv: {max_keys: 10}\n"}
	v := pushed(asks, hello)
	if v.State != tenant.StateWaiting || len(v.More) != 1 || len(v.Less) != 0 {
		t.Errorf("got %+v", v)
	}
	_, err = api.Promote(t.Context(), "acme", "notes", 2, "")
	code("promote what waits", err, admin.CodeState)
	if v, err = api.RejectVersion(t.Context(), "acme", "notes", 2, "no", ""); err != nil || v.State != tenant.StateRejected || v.Reason != "no" {
		t.Errorf("got %+v, %v", v, err)
	}
	_, err = api.ApproveVersion(t.Context(), "acme", "notes", 2, "")
	code("approve what was rejected", err, admin.CodeState)
	_, err = api.PushVersion(t.Context(), "acme", "notes", asks, bytes.NewReader(hello))
	code("push what was rejected", err, admin.CodeState)
	_, err = api.Version(t.Context(), "acme", "notes", 9)
	code("an unknown version", err, admin.CodeNoVersion)
	_, err = api.Rollback(t.Context(), "acme", "notes", "")
	code("nothing to return to", err, admin.CodeState)
	_, err = api.PushVersion(t.Context(), "acme", "fixed", admin.NewVersion{}, bytes.NewReader(hello))
	code("a provider of a file", err, admin.CodeOwned)
	_, err = api.Versions(t.Context(), "acme", "note")
	code("no provider", err, admin.CodeNoProvider)
	_, err = api.PushVersion(t.Context(), "acme", "notes", admin.NewVersion{Reference: "ghcr.io/ada/notes:1"}, nil)
	code("a reference without registries", err, admin.CodeInvalid)
	_, err = api.PushVersion(t.Context(), "acme", "notes", admin.NewVersion{Next: "promote"}, bytes.NewReader(make([]byte, 64<<20+1)))
	code("too large", err, admin.CodeTooLarge)

	// Two deployers have seen one route.
	route, err := api.Route(t.Context(), "acme", "notes")
	if err != nil || route.Active != 1 || route.Tag == "" {
		t.Fatalf("got %+v, %v", route, err)
	}
	if v = pushed(admin.NewVersion{Next: "canary", Share: 0}, append(bytes.Clone(hello), 0, 2, 1, 'x')); v.Route != "canary" {
		t.Fatalf("got %+v", v)
	}
	_, err = api.Promote(t.Context(), "acme", "notes", v.Number, route.Tag)
	code("promote in a route that another deployer has changed", err, admin.CodeConflict)
	_, err = api.Rollback(t.Context(), "acme", "notes", route.Tag)
	code("roll back a route that another deployer has changed", err, admin.CodeConflict)
	if route, err = api.Route(t.Context(), "acme", "notes"); err != nil || route.Trial == nil || route.Trial.Version != v.Number {
		t.Fatalf("got %+v, %v", route, err)
	}
	if route, err = api.Promote(t.Context(), "acme", "notes", v.Number, route.Tag); err != nil || route.Active != v.Number || route.Trial == nil {
		t.Errorf("got %+v, %v", route, err)
	}

	// Two callers have seen one route.
	_, header := askRoute(t, socket, http.MethodGet, "", "")
	for _, want := range []int{http.StatusOK, http.StatusPreconditionFailed} {
		if got, _ := askRoute(t, socket, http.MethodPut, header.Get("ETag"), `{"active":0}`); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
}

// askRoute asks for the route of the provider notes, or sets it.
func askRoute(t *testing.T, socket, method, tag, body string) (int, http.Header) {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://wasmres/v1/tenants/acme/providers/notes/route", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if tag != "" {
		r.Header.Set("If-Match", tag)
	}
	resp, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode, resp.Header
}
