package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/trace"
)

// A notebook is a Tracer that writes down how spans begin and end.
type notebook struct {
	mu    sync.Mutex
	lines []string
}

func (n *notebook) add(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

// take returns what was written since the last call.
func (n *notebook) take() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	text := strings.Join(n.lines, ", ")
	n.lines = nil
	return text
}

func (n *notebook) Begin(r trace.Request) trace.Recorder {
	name := strings.TrimSpace(r.Method + " " + r.Revision + " " + r.Parents[0].TraceParent + " " + r.Parents[1].TraceParent)
	n.add("%s", name)
	return page{n, r.Method}
}

type page struct {
	*notebook
	name string
}

func (p page) Child(name string) trace.Recorder {
	p.add("%s", name)
	return page{p.notebook, name}
}

func (p page) Set(trace.Key, string) {}

func (p page) End(code string) { p.add("%s %s", p.name, code) }

// A call that waits for the start of a process says so.
func TestATraceHasTheStartOfAProcess(t *testing.T) {
	one, err := runtime.NewLive(runtime.LiveConfig{Max: 1})
	if err != nil {
		t.Fatal(err)
	}
	h, err := runtime.NewHost(runtime.HostConfig{CacheDir: guesttest.CacheDir(t), Idle: time.Hour, Live: one, MaxStarts: 1})
	if err != nil {
		t.Fatal(err)
	}
	var both [2]*runtime.Provider
	for i := range both {
		if both[i], err = h.Load(t.Context(), greeting, nil); err != nil {
			t.Fatal(err)
		}
	}
	notes := &notebook{}
	for i, want := range []string{
		"x, queue, queue ok, call, start, start ok, call ok", // the other one has the place
		"x, queue, queue ok, call, call ok",
		"x, queue, queue ok, call, call not_found",
	} {
		uri := "greeting://Ada"
		if i == 2 {
			uri = "nothing://here"
		}
		ctx := trace.With(context.Background(), trace.Begin(notes, trace.Request{Method: "x"}))
		if _, err := both[0].Read(ctx, uri); (err != nil) != (i == 2) {
			t.Error(err)
		}
		if got := notes.take(); got != want {
			t.Errorf("read %d: got %s, want %s", i, got, want)
		}
	}
	if err := errors.Join(both[0].Close(), both[1].Close(), h.Close()); err != nil {
		t.Error(err)
	}
}

// Each kind of request has its span, in the trace that its client names.
func TestEachRequestIsTraced(t *testing.T) {
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
	server, err := runtime.NewServer(p.Source(), &runtime.ServerOptions{Tracer: notes, Tools: true, AllowedHosts: []string{"localhost"}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"traceparent":"M"}`
	session := ""
	for _, c := range []struct{ http, body, session, want string }{
		{http: "GET /mcp?uri=greeting://Ada", want: "download  H, queue, queue ok, call, call ok, download ok"},
		{http: "POST /mcp", body: `{"method":"resources/list","params":{` + meta + `}}`, want: "resources/list 2026-07-28 M H, resources/list ok"},
		{http: "POST /mcp", body: `{"method":"resources/read","params":{"uri":"greeting://Ada",` + meta + `}}`, want: "resources/read 2026-07-28 M H, queue, queue ok, call, call ok, resources/read ok"},
		{http: "POST /mcp", body: `{"method":"resources/read","params":{"uri":"nothing://here",` + meta + `}}`, want: "resources/read 2026-07-28 M H, queue, queue ok, call, call not_found, resources/read not_found"},
		{http: "POST /mcp", body: `{"method":"resources/read","params":{"uri":7,` + meta + `}}`, want: "resources/read 2026-07-28 M H, resources/read -32602"},
		{http: "POST /mcp", body: `{"method":"subscriptions/listen","params":{"notifications":{},` + meta + `}}`, want: "subscriptions/listen 2026-07-28 M H, subscriptions/listen ok"},
		{http: "POST /mcp", body: `{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, want: ""},
		{http: "POST /mcp", session: "yes", body: `{"method":"resources/read","params":{"uri":"greeting://Ada"}}`, want: "resources/read 2025-11-25  H, queue, queue ok, call, call ok, resources/read ok"},
		{http: "POST /mcp", session: "yes", body: `{"method":"tools/list","params":{"_meta":{"traceparent":"M"}}}`, want: "tools/list 2025-11-25 M H, tools/list ok"}, // by the SDK
	} {
		method, url, _ := strings.Cut(c.http, " ")
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // ends a stream
		if !strings.Contains(c.body, "listen") {
			ctx = t.Context()
		}
		r := httptest.NewRequestWithContext(ctx, method, url, strings.NewReader(strings.Replace(c.body, "{", `{"jsonrpc":"2.0","id":1,`, 1)))
		r.Host = "localhost"
		r.Header = http.Header{"Traceparent": {"H"}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		if strings.Contains(c.body, "2026-07-28") {
			r.Header["Mcp-Protocol-Version"] = []string{"2026-07-28"}
			r.Header["Mcp-Method"] = []string{strings.Split(c.body, `"`)[3]}
			if name, _, ok := strings.Cut(strings.TrimPrefix(c.body, `{"method":"resources/read","params":{"uri":"`), `"`); ok && name != "{" {
				r.Header["Mcp-Name"] = []string{name}
			}
		}
		if c.session != "" {
			r.Header["Mcp-Session-Id"], r.Header["Mcp-Protocol-Version"] = []string{session}, []string{"2025-11-25"}
		}
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		cancel()
		session = slices.Concat(w.Header()["Mcp-Session-Id"], []string{session})[0]
		if got := notes.take(); got != c.want {
			t.Errorf("%s %s: got %s, want %s\n%d %s", c.http, c.body, got, c.want, w.Code, w.Body)
		}
	}
}
