package node_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/authtest"
	"github.com/wasmres/wasmres/internal/guesttest"
	hosting "github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/node"
	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/internal/tenant"
)

// nameServer is the address where the tests of this package ask for names, nil for the system's servers. Lookups go on in goroutines
// of their own after their callers left, so that the tests exchange this address and never net.DefaultResolver.
var nameServer atomic.Pointer[net.UDPAddr]

func init() {
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		if a := nameServer.Load(); a != nil {
			network, address = "udp", a.String()
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}
}

// withoutNames has no name resolved until the end of the test: nothing answers at the address of the DNS server.
func withoutNames(t *testing.T) {
	t.Helper()
	silent, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	nameServer.Store(silent.LocalAddr().(*net.UDPAddr))
	t.Cleanup(func() {
		nameServer.Store(nil)
		_ = silent.Close()
	})
}

// While no name is resolved, clients whose issuer, registry or server has one are told so in a bounded time, and when to try again
// where that helps. No other client waits.
func TestNamesThatAreNotResolved(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for deadlines")
	}
	withoutNames(t)
	dir := filepath.Join(t.TempDir(), "data")
	anonymous := "roles: {all: [{uris: [\"**\"]}]}\nauth: {anonymous: [all]}\n"
	for id, text := range map[string]string{
		"issuer": fmt.Sprintf("providers: {p: {module: %q}}\nroles: {all: [{uris: [\"**\"]}]}\nauth: {issuers: [{issuer: \"https://id.gone.test\", map: {all: [all]}}]}\n",
			guesttest.Computing(t)),
		"registry": "providers: {p: {module: \"registry.gone.test/p:1\"}}\n" + anonymous,
		"server": fmt.Sprintf(`providers:
  kit: {module: %q, permissions: {network: {allow: [{host: api.gone.test}]}, resources: {limits: {timeout: 1s}}}}
`, guesttest.Kit(t, project.C)) + anonymous,
		"other": fmt.Sprintf("providers: {p: {module: %q}}\n", guesttest.Computing(t)) + anonymous,
	} {
		write(t, filepath.Join(dir, "tenants", id+".yaml"), text)
	}
	write(t, filepath.Join(dir, "serve.yaml"), "listen: [{address: \"127.0.0.1:0\"}]\npublic_url: "+publicURL+"\n")
	s, err := tenant.ReadSettings(filepath.Join(dir, "serve.yaml"), dir)
	if err != nil {
		t.Fatal(err)
	}
	h := &hosted{tb: t, keys: map[string]string{}}
	n, report, err := node.Open(t.Context(), node.Config{
		Settings: s, CacheDir: guesttest.CacheDir(t), Version: "1", Logger: slog.New(slog.NewTextHandler(&h.log, nil)),
		Module: func(ctx context.Context, _ string) (hosting.Module, error) {
			_, err := net.DefaultResolver.LookupHost(ctx, "registry.gone.test")
			return hosting.Module{}, err
		},
	})
	if err != nil || len(report.Problems) > 0 {
		t.Fatal(err, report)
	}
	h.Node = n
	h.serve()
	i := authtest.New(t)
	waiting, done := sync.WaitGroup{}, make(chan struct{})
	for _, c := range []struct {
		request
		status int
		want   []string
	}{
		{request{tenant: "issuer", key: i.Token(publicURL+"/t/issuer/mcp", "iss", "https://id.gone.test"), method: "resources/read", uri: "compute://1"}, 503, nil},
		{request{tenant: "registry", method: "resources/read", uri: "x:1"}, 200, []string{`"code":"unavailable"`, `"retryAfterMs":`}},
		{request{tenant: "registry", uri: "x:1"}, 503, nil},
		{request{tenant: "server", method: "resources/read", uri: "kit://fetch/https://api.gone.test/"}, 200, []string{`"error":`, `"code":"`}},
	} {
		waiting.Go(func() {
			got := h.do(c.request)
			for _, want := range c.want {
				if !strings.Contains(got.body, want) {
					t.Errorf("%s: got %s without %s", c.tenant, got.body, want)
				}
			}
			if got.status != c.status || got.status == http.StatusServiceUnavailable && got.header.Get("Retry-After") == "" || strings.Contains(got.body, "gone.test:53") {
				t.Errorf("%s: got %d %v %s", c.tenant, got.status, got.header, got.body)
			}
		})
	}
	go func() { waiting.Wait(); close(done) }()
	for isOver := false; !isOver; {
		if a := h.compute("other", 1); !a.isResult() && !a.isLater() {
			t.Errorf("the other tenant got %d %s", a.status, a.body)
		}
		select {
		case <-done:
			isOver = true
		case <-time.After(10 * time.Millisecond):
		}
	}
	if a := h.do(request{tenant: "server", method: "resources/read", uri: "kit://text"}); !a.isResult() {
		t.Errorf("a read that asks no server: got %d %s", a.status, a.body)
	}
	if !strings.Contains(h.log.String(), "gone.test") {
		t.Errorf("the log does not say what is gone: %s", h.log.String())
	}
}
