package node_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/node"
	"github.com/wasmres/wasmres/internal/seal"
	"github.com/wasmres/wasmres/internal/tenant"
)

// Two tenants seal secrets by one name, for one provider that asks one server: the server gets from each tenant its own, and
// from a tenant without one neither.
func TestASecretIsThatOfItsTenant(t *testing.T) {
	if testing.Short() {
		t.Skip("it asks with six providers")
	}
	got := make(chan string, 1)
	asked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case got <- r.Header.Get("Authorization"):
		default:
		}
		fmt.Fprint(w, `{"title": "a book"}`)
	}))
	t.Cleanup(asked.Close)
	host, port, err := net.SplitHostPort(asked.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	key := filepath.Join(t.TempDir(), "secrets.key")
	if err := seal.New().WriteNew(key); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b", "c"} {
		write(t, filepath.Join(dir, "tenants", id+".yaml"), fmt.Sprintf(`providers:
  books:
    module: %q
    permissions:
      config: {server: %q, authorization: "Bearer {{secret:library}}"}
      network: {allow: [{host: %q, schemes: [http], ports: [%s], private: true, secrets: [library]}]}
      secrets: [{name: library, sealed: library-token}]
roles:
  all: [{uris: ["**"]}]
auth: {anonymous: [all]}
`, guesttest.File(t, "openapi"), asked.URL, host, port))
	}
	write(t, filepath.Join(dir, "serve.yaml"), fmt.Sprintf("listen: [{address: \"127.0.0.1:0\"}]\nsecrets: {key: %q}\n", key))
	address, socket, _ := serveFolder(t, dir, nil)
	client := admintest.Client(t, socket)
	for _, id := range []string{"a", "b"} {
		if _, err := client.SetSecret(t.Context(), id, "library-token", secretOf(id)); err != nil {
			t.Fatal(err)
		}
	}
	for n, id := range []string{"a", "b", "c", "b", "a", "c"} {
		resp, err := http.Get(fmt.Sprintf("http://%s/t/%s/mcp?uri=%s", address, id, url.QueryEscape(fmt.Sprint("api://books/", n+1))))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		sent := ""
		select {
		case sent = <-got:
		default:
		}
		if want := map[string]string{"a": "Bearer " + secretOf("a"), "b": "Bearer " + secretOf("b")}[id]; sent != want || (resp.StatusCode == http.StatusOK) != (want != "") {
			t.Errorf("the provider of %s sent %q, and answered %s %s", id, sent, resp.Status, text)
		}
	}
}

// serveFolder serves what a data folder with serve.yaml says, and its operators, until end is called or the test ends.
func serveFolder(t *testing.T, dir string, logger *slog.Logger) (address, socket string, end func()) {
	t.Helper()
	s, err := tenant.ReadSettings(filepath.Join(dir, "serve.yaml"), dir)
	if err != nil {
		t.Fatal(err)
	}
	n, report, err := node.Open(t.Context(), node.Config{Settings: s, CacheDir: guesttest.CacheDir(t), Version: "1", Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Problems) > 0 {
		t.Fatal(report.Problems)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended, ready := make(chan error, 2), make(chan struct{})
	go func() { ended <- n.Serve(ctx, l, nil) }()
	go func() { ended <- n.Operate(ctx, func() { close(ready) }) }()
	<-ready
	end = sync.OnceFunc(func() {
		stop()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return l.Addr().String(), s.Admin.Socket, end
}
