//go:build linux

package runtime_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/auth"
)

// A door lets in who says please.
type door struct{}

func (door) Authenticate(c auth.Credential) (*auth.Identity, error) {
	if c.Authorization != "please" {
		return nil, auth.ErrInvalid
	}
	everything, err := auth.ParsePattern("**")
	if err != nil {
		return nil, err
	}
	return auth.NewIdentity(context.Background(), abi.Principal{Subject: "ada"}, auth.FullAccess(everything), time.Time{}), nil
}

func (door) Challenge(string) string { return "Bearer" }

// Requests that are refused have a span with the reason: in the trace that a message names, and in no trace of who shows no good
// credential.
func TestRefusedRequestsAreTraced(t *testing.T) {
	h, err := runtime.NewHost(runtime.HostConfig{Isolation: runtime.IsolateNone, CacheDir: guesttest.CacheDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	p, err := h.Load(t.Context(), greeting, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	notes := &notebook{}
	server, err := runtime.NewServer(p.Source(), &runtime.ServerOptions{
		Tracer: notes, Auth: door{}, RatePerSecond: 1e-6, Burst: 1, AllowedHosts: []string{"localhost"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	const body = `{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{},"traceparent":"M"}}}`
	for _, c := range []struct{ credential, want string }{
		{"", ",  unauthorized"},
		{"please", "resources/list 2026-07-28 M H, guard, guard ok, resources/list ok"},
		{"please", "resources/list  M H, resources/list limited"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(body))
		r.Host = "localhost"
		r.Header = http.Header{
			"Traceparent": {"H"}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"resources/list"}, "Authorization": {c.credential},
		}
		server.ServeHTTP(httptest.NewRecorder(), r)
		if got := notes.take(); got != c.want {
			t.Errorf("by %q: got %q, want %q", c.credential, got, c.want)
		}
	}
}
