package streamtest

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/legacy"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Hosts returns the hosts that requests name where no connection has an address.
func Hosts() []string { return []string{"mcp.test", "example.com", "localhost"} }

// NewHandler makes a Handler without sessions. Nil AllowedHosts stand for [Hosts].
func NewHandler(t testing.TB, src resource.Source, cfg streamable.Config) *streamable.Handler {
	t.Helper()
	if cfg.AllowedHosts == nil {
		cfg.AllowedHosts = Hosts()
	}
	core, err := mcp.New(mcp.Config{Source: src, Name: "test", Version: "1", Tools: true})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Core = core
	h, err := streamable.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// NewFront makes a Handler with sessions of older revisions. Nil AllowedHosts stand for [Hosts].
func NewFront(t testing.TB, src resource.Source, core mcp.Config, cfg streamable.Config) *streamable.Handler {
	t.Helper()
	core.Source, core.Name, core.Version, core.Tools = src, "test", "1", true
	c, err := mcp.New(core)
	if err != nil {
		t.Fatal(err)
	}
	front, err := legacy.New(legacy.Config{
		Core: c, Source: src, Name: "test", Version: "1", Tools: true, AccessLog: core.AccessLog,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { front.Close() })
	cfg.Core, cfg.Legacy = c, front
	if cfg.AllowedHosts == nil {
		cfg.AllowedHosts = Hosts()
	}
	h, err := streamable.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Do returns the status, the error code or 0, and the body.
func Do(h http.Handler, r *http.Request) (status, code int, answer string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var m struct{ Error mcp.Error }
	_ = json.Unmarshal(w.Body.Bytes(), &m)
	return w.Code, m.Error.Code, w.Body.String()
}

// OpenSession opens a session of an older revision and gives its name. The session may not be initialized yet.
func OpenSession(h http.Handler) string {
	r := Post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+OldRevision+
		`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, "MCP-Protocol-Version", "", "Host", "localhost")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	id := w.Header().Get("Mcp-Session-Id")
	r = Post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "MCP-Protocol-Version", OldRevision, "Mcp-Session-Id", id, "Host", "localhost")
	h.ServeHTTP(httptest.NewRecorder(), r)
	return id
}

// Send posts a request of Revision to the server at url. The response is closed when the test ends.
func Send(ctx context.Context, t *testing.T, url, body string) *http.Response {
	t.Helper()
	r := Post(body, "Host", strings.TrimPrefix(url, "http://"))
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, url+streamable.Path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	out.Header = r.Header
	response, err := http.DefaultClient.Do(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}

// Events reads a stream: each call of next gives the data of an event, or a comment as it is, or the error.
func Events(t *testing.T, r io.Reader) (next func() string) {
	lines := bufio.NewReader(r)
	return func() string {
		t.Helper()
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return err.Error()
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				return strings.TrimSuffix(data, "\n")
			}
			if strings.HasPrefix(line, ":") {
				return strings.TrimSuffix(line, "\n")
			}
		}
	}
}
