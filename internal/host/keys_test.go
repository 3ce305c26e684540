package host_test

import (
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/keys"
)

// keyed gives a tenant a role for all resources of hello, and one for a few.
func keyed(t *testing.T, id string) *tenant.Tenant {
	t.Helper()
	all := []string{"list", "read", "watch", "complete", "download"}
	one := with(id, guesttest.File(t, "hello"))
	one.Roles = []tenant.Role{
		{Name: "greeter", Rules: []tenant.Rule{{Actions: all, URIs: []string{"greeting://**"}}}},
		{Name: "reader", Rules: []tenant.Rule{{Actions: all, URIs: []string{"**"}}}},
	}
	return one
}

func newKey(t *testing.T, of *tenant.Tenant, role string, networks ...string) (string, *tenant.Key) {
	t.Helper()
	o := keys.Options{}
	for _, network := range networks {
		o.Networks = append(o.Networks, netip.MustParsePrefix(network))
	}
	text, k, err := keys.New(of, role, []string{role}, o)
	if err != nil {
		t.Fatal(err)
	}
	return text, k
}

// Clients with keys get what their roles permit, over real connections, with the fast path and without.
func TestClientsShowKeys(t *testing.T) {
	set := keys.NewSet(keys.Config{})
	t.Cleanup(func() { set.Close() })
	s := serve(t, host.Config{Clients: set})
	a, b, open := keyed(t, "a"), keyed(t, "b"), keyed(t, "open")
	open.Anonymous = []string{"reader"}
	reader, rk := newKey(t, a, "reader")
	greeter, gk := newKey(t, a, "greeter")
	near, nk := newKey(t, b, "reader", "127.0.0.0/8")
	far, fk := newKey(t, b, "reader", "10.0.0.0/8")
	update := func(list ...*tenant.Key) {
		next := snapshot(a, b, open)
		next.Keys = map[string]*tenant.Key{}
		for _, k := range list {
			next.Keys[k.ID] = k
		}
		s.Update(next)
	}
	update(rk, gk, nk, fk)
	check := func(path, key string, status int, want string) {
		t.Helper()
		for range 2 { // the second one is of a connection whose client is known
			if got, text := s.read(path, key, "hello://about"); got != status || !strings.Contains(text, want) {
				t.Errorf("%s: got %d %s, want %d %s", path, got, text, status, want)
			}
		}
	}
	check("/t/b/mcp", far, 401, "unknown")
	check("/t/b/mcp", near, 200, `"text"`) // which opens it
	check("/t/b/mcp", far, 401, "unknown")
	check("/t/a/mcp", near, 401, "unknown")
	check("/t/a/mcp", "", 401, "no credential")
	check("/t/a/mcp", reader, 200, `"text"`)
	check("/t/a/mcp", greeter, 200, "not_found")
	check("/t/open/mcp", "", 200, `"text"`)
	check("/t/open/mcp", reader, 401, "unknown")
	ends, goesOn := s.listen("/t/a/mcp", reader), s.listen("/t/a/mcp", greeter)
	update(gk, nk, fk)
	for event := range ends { // its stream ends with its result
		if !strings.Contains(event, `"resultType":"complete"`) {
			t.Errorf("the stream of a revoked key got %s", event)
		}
	}
	if len(goesOn) > 0 {
		t.Errorf("the stream of another key got %s", <-goesOn)
	}
	check("/t/a/mcp", reader, 401, "unknown")

	bad := func(n int) (*http.Response, string) {
		resp, err := http.DefaultClient.Do(s.request("/t/a/mcp", fmt.Sprint("bad-", n), "resources/list", "", map[string]any{}))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(text)
	}
	for n := range 8 { // two other ones were shown above
		if resp, text := bad(n); resp.StatusCode != http.StatusUnauthorized {
			t.Fatalf("bad credential %d: got %d %s", n, resp.StatusCode, text)
		}
	}
	if resp, text := bad(8); resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" {
		t.Errorf("too many bad credentials: got %d %s", resp.StatusCode, text)
	}
	check("/t/a/mcp", greeter, 200, "not_found")
}

// Of two changes, the callers may pass the snapshots in either order.
func TestAnEarlierSnapshotBringsNoKeyBack(t *testing.T) {
	set := keys.NewSet(keys.Config{})
	t.Cleanup(func() { set.Close() })
	s := serve(t, host.Config{Clients: set})
	a := keyed(t, "a")
	reader, k := newKey(t, a, "reader")
	earlier, later := snapshot(a), snapshot(a)
	earlier.Generation, later.Generation = 6, 7
	earlier.Keys = map[string]*tenant.Key{k.ID: k}
	s.Update(later)
	s.Update(earlier)
	if status, text := s.read("/t/a/mcp", reader, "hello://about"); status != http.StatusUnauthorized {
		t.Errorf("got %d %s for a key that was revoked, want 401", status, text)
	}
}
