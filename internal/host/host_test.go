package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/quota"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/auth"
)

func TestMain(m *testing.M) {
	runtime.Main()
	os.Exit(m.Run())
}

// clients know the credentials of each tenant: its ID, and those of several clients, as in ID:NAME. With ID!NAME they may
// choose versions.
type clients struct{}

func (clients) Update(*tenant.Snapshot) {}

func (clients) Authenticator(id string) auth.Authenticator { return client{id} }

type client struct{ id string }

func (client) Challenge(string) string { return `Bearer realm="wasmres"` }

func (c client) Authenticate(shown auth.Credential) (*auth.Identity, error) {
	if shown.Authorization == "" {
		return nil, auth.ErrMissing
	}
	name, ok := strings.CutPrefix(shown.Authorization, "Bearer "+c.id)
	if !ok {
		return nil, auth.ErrInvalid
	}
	i := auth.NewIdentity(context.Background(), abi.Principal{Subject: c.id + name}, auth.FullAccess(auth.AnyURI()), time.Time{})
	if strings.HasPrefix(name, "!") {
		return i.ChoosingVersions(), nil
	}
	return i, nil
}

// A served host is one behind a listener.
type served struct {
	*host.Host
	tb      testing.TB
	address string
}

// serve serves a host, and closes it at the end of the test.
func serve(tb testing.TB, cfg host.Config) *served {
	tb.Helper()
	return serveOn(tb, cfg, runtime.HostConfig{CacheDir: guesttest.CacheDir(tb)})
}

// serveOn is serve with a runtime of its own.
func serveOn(tb testing.TB, cfg host.Config, on runtime.HostConfig) *served {
	tb.Helper()
	engine, err := runtime.NewHost(on)
	if err != nil {
		tb.Fatal(err)
	}
	if cfg.Runtime, cfg.DataDir = engine, tb.TempDir(); cfg.Clients == nil {
		cfg.Clients = clients{}
	}
	if cfg.OpenWait == 0 {
		cfg.OpenWait = 3 * time.Minute // a busy machine compiles for long
	}
	if cfg.Quotas, err = quota.OpenBook(quota.Config{File: filepath.Join(cfg.DataDir, "usage.json")}); err != nil {
		tb.Fatal(err)
	}
	h, err := host.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- runtime.Serve(ctx, l, h, nil) }()
	tb.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
		if err := cfg.Quotas.Close(); err != nil {
			tb.Error(err)
		}
		if err := engine.Close(); err != nil {
			tb.Error(err)
		}
	})
	return &served{h, tb, l.Addr().String()}
}

// snapshot makes a snapshot of tenants.
func snapshot(tenants ...*tenant.Tenant) *tenant.Snapshot {
	s := &tenant.Snapshot{Tenants: map[string]*tenant.Tenant{}, Hosts: map[string]*tenant.Tenant{}}
	for _, t := range tenants {
		s.Tenants[t.ID] = t
		for _, name := range t.Hosts {
			s.Hosts[name] = t
		}
	}
	return s
}

func with(id string, modules ...string) *tenant.Tenant {
	t := &tenant.Tenant{ID: id}
	for _, m := range modules {
		t.Providers = append(t.Providers, tenant.Provider{Name: strings.TrimSuffix(filepath.Base(m), ".wasm"), Module: m})
	}
	return t
}

// request makes a request to a tenant's endpoint. name is the value of Mcp-Name; empty for none.
func (s *served) request(path, key, method, name string, params map[string]any) *http.Request {
	s.tb.Helper()
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": struct{}{},
		"io.modelcontextprotocol/clientInfo": map[string]string{"name": "test", "version": "1"},
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		s.tb.Fatal(err)
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+s.address+path, bytes.NewReader(body))
	if err != nil {
		s.tb.Fatal(err)
	}
	for header, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28",
		"Mcp-Method": method,
	} {
		req.Header.Set(header, value)
	}
	if name != "" {
		req.Header.Set("Mcp-Name", name)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	return req
}

// read reads a resource, and returns the status and the answer.
func (s *served) read(path, key, uri string) (int, string) {
	s.tb.Helper()
	resp, err := http.DefaultClient.Do(s.request(path, key, "resources/read", uri, map[string]any{"uri": uri}))
	if err != nil {
		s.tb.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.tb.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestTenantsAreServedApart(t *testing.T) {
	s := serve(t, host.Config{})
	hello, everything := guesttest.File(t, "hello"), guesttest.File(t, "everything")
	s.Update(snapshot(with("a", hello), with("b", everything), with("none"), &tenant.Tenant{ID: "off", Disabled: true}))
	for _, c := range []struct {
		path, key string
		status    int
		text      string
	}{
		{"/t/a/mcp", "a", 200, "text"},
		{"/t/a/mcp", "a", 200, "text"}, // by the server that is open
		{"/t/a/mcp", "", 401, "no credential"},
		{"/t/a/mcp", "b", 401, "unknown"},
		{"/t/b/mcp", "a", 401, "unknown"},
		{"/t/b/mcp", "b", 200, "not_found"},
		{"/t/none/mcp", "none", 200, "not_found"},
		{"/t/off/mcp", "off", 403, "disabled"},
		{"/t/c/mcp", "c", 404, "no such tenant"},
		{"/t/A/mcp", "a", 404, "no such tenant"},
		{"/mcp", "a", 404, "nothing here"},
		{"/t/a/mcp/x", "a", 404, "nothing here"},
	} {
		if status, text := s.read(c.path, c.key, "hello://about"); status != c.status || !strings.Contains(text, c.text) {
			t.Errorf("%s with key %q: got %d %s, want %d %s", c.path, c.key, status, text, c.status, c.text)
		}
	}
}

// The operator narrows what a provider answers to prefixes.
func TestPrefixesNarrowAProvider(t *testing.T) {
	s := serve(t, host.Config{})
	narrow := with("a", guesttest.File(t, "hello"))
	narrow.Providers[0].Prefixes = []string{"hello://"}
	s.Update(snapshot(narrow))
	for uri, want := range map[string]string{"hello://about": `"text"`, "greeting://Ada": "not_found"} {
		if _, text := s.read("/t/a/mcp", "a", uri); !strings.Contains(text, want) {
			t.Errorf("%s: got %s, want %s", uri, text, want)
		}
	}
}

// A server that ends tells the clients of all tenants, and reports no error.
func TestClosingEndsTheStreamsOfAllTenants(t *testing.T) {
	s := serve(t, host.Config{})
	hello := guesttest.File(t, "hello")
	var all []*tenant.Tenant
	tenants := 30
	if testing.Short() {
		tenants = 4
	}
	for i := range tenants {
		all = append(all, with(fmt.Sprintf("t%d", i), hello))
	}
	s.Update(snapshot(all...))
	var streams []<-chan string
	for _, one := range all {
		streams = append(streams, s.listen("/t/"+one.ID+"/mcp", one.ID))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, events := range streams {
		last := ""
		for event := range events {
			last = event
		}
		if !strings.Contains(last, `"result"`) {
			t.Errorf("the last event is %s, want the result of the stream", last)
		}
	}
}
