package streamable_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
	"github.com/wasmres/wasmres/runtime/resource"
)

func TestModern(t *testing.T) {
	h := streamtest.NewHandler(t, streamtest.Source(), streamable.Config{MaxRequestBytes: 10_000})
	list, read := streamtest.Body("1", "resources/list", ""), streamtest.Body("1", "resources/read", `"uri":"test://text"`)
	sentinel := func(s string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?=" }
	coffee := streamtest.Body("1", "resources/read", `"uri":"test://café"`)
	tests := []struct {
		name         string
		request      *http.Request
		status, code int
	}{
		{"list", streamtest.Post(list), 200, 0},
		{"read", streamtest.Post(read), 200, 0},
		{"charset", streamtest.Post(list, "Content-Type", "application/json; charset=utf-8"), 200, 0},
		{"tool", streamtest.Post(streamtest.Body("1", "tools/call", `"name":"list_resources"`)), 200, 0},
		{"not found", streamtest.Post(streamtest.Body("1", "resources/read", `"uri":"test://nope"`)), 200, -32602},
		{"no such method", streamtest.Post(streamtest.Body("1", "ping", "")), 404, -32601},
		{"prompt", streamtest.Post(streamtest.Body("1", "prompts/get", `"name":"p"`)), 404, -32601},
		{"guest failure", streamtest.Post(streamtest.Body("1", "resources/read", `"uri":"test://trap"`)), 200, 502},
		{"panic", streamtest.Post(streamtest.Body("1", "resources/read", `"uri":"test://panic"`)), 200, -32603},

		{"no version header", streamtest.Post(list, "MCP-Protocol-Version", ""), 400, -32020},
		{"other version header", streamtest.Post(list, "MCP-Protocol-Version", "2025-11-25"), 400, -32020},
		{"other version in both", streamtest.Post(strings.Replace(list, streamtest.Revision, "v999", 1), "MCP-Protocol-Version", "v999"), 400, -32022},
		{"other version in the body", streamtest.Post(strings.Replace(list, streamtest.Revision, "v999", 1)), 400, -32020},
		{"other version in the header alone", streamtest.Post(`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, "MCP-Protocol-Version", "v999"), 400, -32022},
		{"no meta", streamtest.Post(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`), 400, -32602},
		{"no capabilities", streamtest.Post(strings.Replace(list, "clientCapabilities", "x", 1)), 400, -32602},
		{"no such log level", streamtest.Post(strings.Replace(list, `"_meta":{`, `"_meta":{"io.modelcontextprotocol/logLevel":"loud",`, 1)), 400, -32602},
		{"params of no method", streamtest.Post(strings.Replace(list, `"params":{`, `"params":{"cursor":"","cursor":"",`, 1)), 400, -32602},
		{"unknown cursor", streamtest.Post(streamtest.Body("1", "resources/list", `"cursor":"nonsense"`)), 200, -32602},
		{"unknown prompt", streamtest.Post(streamtest.Body("1", "completion/complete", `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"n","value":""}`)), 200, -32602},
		{"no method header", streamtest.Post(list, "Mcp-Method", ""), 400, -32020},
		{"other method header", streamtest.Post(list, "Mcp-Method", "resources/read"), 400, -32020},
		{"method header in other case", streamtest.Post(list, "Mcp-Method", "Resources/List"), 400, -32020},
		{"no name header", streamtest.Post(read, "Mcp-Name", ""), 400, -32020},
		{"other name header", streamtest.Post(read, "Mcp-Name", "test://other"), 400, -32020},
		{"name of no value", streamtest.Post(streamtest.Body("1", "resources/read", ""), "Mcp-Name", "x"), 200, -32602},
		{"tool without name header", streamtest.Post(streamtest.Body("1", "tools/call", `"name":"list_resources"`), "Mcp-Name", ""), 400, -32020},
		{"encoded name", streamtest.Post(coffee, "Mcp-Name", sentinel("test://café")), 200, 0},
		{"encoded name without need", streamtest.Post(read, "Mcp-Name", sentinel("test://text")), 200, 0},
		{"other encoded name", streamtest.Post(coffee, "Mcp-Name", sentinel("test://cafe")), 400, -32020},
		{"name beyond ASCII", streamtest.Post(coffee), 400, -32020},
		{"bad base64", streamtest.Post(read, "Mcp-Name", "=?base64?!?="), 400, -32020},
		{"encoded name in other case", streamtest.Post(read, "Mcp-Name", strings.Replace(sentinel("test://text"), "base64", "BASE64", 1)), 400, -32020},
		{"overlapping marks", streamtest.Post(read, "Mcp-Name", "=?base64?="), 400, -32020},

		{"stray session", streamtest.Post(list, "Mcp-Session-Id", "x", "Last-Event-Id", "7"), 200, 0},
		{"accept anything", streamtest.Post(list, "Accept", "*/*"), 200, 0},
		{"accept kinds", streamtest.Post(list, "Accept", "text/*;q=0.5 , application/*"), 200, 0},
		{"accept nothing", streamtest.Post(list, "Accept", ""), 406, -32600},
		{"accept JSON", streamtest.Post(list, "Accept", "application/json"), 406, -32600},
		{"accept streams", streamtest.Post(list, "Accept", "text/event-stream"), 406, -32600},
		{"accept no streams", streamtest.Post(list, "Accept", "application/json, text/event-stream; q=0"), 406, -32600},
		{"content type", streamtest.Post(list, "Content-Type", "text/plain"), 415, -32600},
		{"no content type", streamtest.Post(list, "Content-Type", ""), 415, -32600},
		{"too long", streamtest.Post(list + strings.Repeat(" ", 10_000)), 413, -32600},
		{"not JSON", streamtest.Post("{"), 400, -32700},
		{"empty", streamtest.Post(""), 400, -32700},
		{"batch", streamtest.Post("[" + list + "]"), 400, -32600},
		{"response", streamtest.Post(`{"jsonrpc":"2.0","id":1,"result":{}}`), 400, -32600},
		{"notification", streamtest.Post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`), 202, 0},

		{"listen to nothing said", streamtest.Post(streamtest.Body("1", "subscriptions/listen", "")), 200, -32602},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, code, answer := streamtest.Do(h, tt.request)
			if status != tt.status || code != tt.code {
				t.Errorf("got status %d, code %d, want %d, %d: %s", status, code, tt.status, tt.code, answer)
			}
		})
	}
}

func TestHeaderTwice(t *testing.T) {
	h := streamtest.NewHandler(t, streamtest.Source(), streamable.Config{})
	for _, name := range []string{"MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"} {
		r := streamtest.Post(streamtest.Body("1", "resources/read", `"uri":"test://text"`))
		r.Header.Add(name, r.Header.Get(name))
		if status, code, _ := streamtest.Do(h, r); status != 400 || code != -32020 {
			t.Errorf("%s twice: got %d, %d, want 400, -32020", name, status, code)
		}
	}
}

func TestOtherPathsAndMethods(t *testing.T) {
	h := streamtest.NewHandler(t, streamtest.Source(), streamable.Config{})
	tests := []struct {
		method, path string
		status       int
		allow, body  string
	}{
		{"GET", "/", 200, "", "wasmres serves the Model Context Protocol at /mcp\n"},
		{"POST", "/", 404, "", "nothing here: the Model Context Protocol is at /mcp\n"},
		{"GET", "/other", 404, "", "nothing here: the Model Context Protocol is at /mcp\n"},
		{"GET", "/mcp", 405, "POST", "send MCP messages with POST; download a resource with GET and ?uri=URI\n"},
		{"DELETE", "/mcp", 405, "POST", "send MCP messages with POST; download a resource with GET and ?uri=URI\n"},
		{"PUT", "/mcp", 405, "POST", "send MCP messages with POST; download a resource with GET and ?uri=URI\n"},
		{"OPTIONS", "/mcp", 405, "POST", "send MCP messages with POST; download a resource with GET and ?uri=URI\n"},
	}
	for _, tt := range tests {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(tt.method, tt.path, nil))
		if w.Code != tt.status || w.Header().Get("Allow") != tt.allow || w.Body.String() != tt.body {
			t.Errorf("%s %s: got %d, Allow %q, %q", tt.method, tt.path, w.Code, w.Header().Get("Allow"), w.Body)
		}
	}
}

func TestServeEndpointIgnoresThePath(t *testing.T) {
	h := http.HandlerFunc(streamtest.NewHandler(t, streamtest.Source(), streamable.Config{}).ServeEndpoint)
	for host, want := range map[string]int{"mcp.test": 200, "evil.test": 403} {
		r := streamtest.Post(streamtest.Body("1", "resources/list", ""), "Host", host)
		r.URL.Path = "/some/path"
		if status, _, answer := streamtest.Do(h, r); status != want {
			t.Errorf("host %s: got %d, want %d: %s", host, status, want, answer)
		}
	}
}

// A legacy records the requests it gets.
type legacy struct{ requests []string }

// Begin implements [streamable.Legacy]: there are no sessions.
func (l *legacy) Begin(*deadline.Cancelable, string, string, *mcp.Message) (func(), bool) {
	return nil, false
}

func (l *legacy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	l.requests = append(l.requests, r.Method+" "+string(text))
	if r.Body != http.NoBody && r.ContentLength != int64(len(text)) {
		l.requests = append(l.requests, "wrong length")
	}
	w.WriteHeader(http.StatusTeapot)
}

func TestRevisions(t *testing.T) {
	const (
		isLegacy = http.StatusTeapot
		list     = `{"jsonrpc":"2.0", "id":1,"method":"resources/list"}`
		initial  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`
	)
	modern := streamtest.Body("1", "resources/list", "")
	tests := []struct {
		name    string
		request *http.Request
		status  int
		body    string // the legacy handler gets; that of the request if empty
	}{
		{"modern", streamtest.Post(modern), 200, ""},
		{"modern with a session", streamtest.Post(modern, "Mcp-Session-Id", "s"), 200, ""},
		{"modern body, no header", streamtest.Post(modern, "MCP-Protocol-Version", ""), 400, ""},
		{"modern header, no meta", streamtest.Post(list), 400, ""},
		{"unknown header, no meta", streamtest.Post(list, "MCP-Protocol-Version", "x"), 400, ""},
		{"discover without anything", streamtest.Post(`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, "MCP-Protocol-Version", ""), 400, ""},
		{"legacy header", streamtest.Post(list, "MCP-Protocol-Version", "2025-06-18"), isLegacy, list},
		{"legacy session", streamtest.Post(list, "MCP-Protocol-Version", "", "Mcp-Session-Id", "s"), isLegacy, list},
		{"nothing said", streamtest.Post(list, "MCP-Protocol-Version", ""), isLegacy, list},
		{"legacy batch", streamtest.Post("["+list+"]", "MCP-Protocol-Version", "2025-03-26"), isLegacy, "[" + list + "]"},
		{"legacy nonsense", streamtest.Post("{", "MCP-Protocol-Version", ""), isLegacy, "{"},
		{"initialize", streamtest.Post(initial, "MCP-Protocol-Version", ""), isLegacy, initial},
		{"initialize for a modern revision", streamtest.Post(strings.Replace(initial, "2025-11-25", "2026-07-28", 1), "MCP-Protocol-Version", ""), isLegacy, initial},
		{"initialize with a modern header", streamtest.Post(strings.Replace(initial, "2025-11-25", "2026-07-28", 1)), isLegacy, initial},
		{"modern initialize", streamtest.Post(streamtest.Body("1", "initialize", "")), 404, ""},
		{"legacy without content type", streamtest.Post(list, "MCP-Protocol-Version", "", "Content-Type", ""), 415, ""},
		{"stream", httptest.NewRequest("GET", "/mcp", nil), 405, ""},
		{"stream of a session", withSession(httptest.NewRequest("GET", "/mcp", nil)), isLegacy, ""},
		{"end of a session", withSession(httptest.NewRequest("DELETE", "/mcp", nil)), isLegacy, ""},
		{"put with a session", withSession(httptest.NewRequest("PUT", "/mcp", nil)), 405, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := &legacy{}
			h := streamtest.NewHandler(t, streamtest.Source(), streamable.Config{Legacy: l})
			var want []string
			if tt.status == isLegacy {
				want = []string{tt.request.Method + " " + tt.body}
			}
			status, _, answer := streamtest.Do(h, tt.request)
			if diff := cmp.Diff(want, l.requests); status != tt.status || diff != "" {
				t.Errorf("got status %d, want %d: %s; passed on (-want +got):\n%s", status, tt.status, answer, diff)
			}
		})
	}
}

func withSession(r *http.Request) *http.Request {
	r.Header.Set("Mcp-Session-Id", "s")
	return r
}

func TestNewRefuses(t *testing.T) {
	core, err := mcp.New(mcp.Config{Source: streamtest.Source(), Name: "test", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []streamable.Config{
		{},
		{Core: core, MaxRequestBytes: -1},
		{Core: core, AllowedHosts: []string{""}},
		{Core: core, AllowedHosts: []string{"http://mcp.test"}},
		{Core: core, AllowedOrigins: []string{"mcp.test"}},
		{Core: core, AllowedOrigins: []string{"*"}},
		{Core: core, AllowedOrigins: []string{"https://mcp.test/"}},
	} {
		if _, err := streamable.New(cfg); err == nil {
			t.Errorf("%+v was accepted", cfg)
		}
	}
}

func TestAnswerIsOneBodyUnlessThereIsProgress(t *testing.T) {
	h := streamtest.NewHandler(t, streamtest.Source(), streamable.Config{})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, streamtest.Post(streamtest.Body("1", "resources/read", `"uri":"test://slow"`)))
	want := `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"}},` +
		`"contents":[{"uri":"test://slow","text":"done"}],"ttlMs":0,"cacheScope":"private"}}`
	if got := w.Body.String(); got != want || w.Header().Get("Content-Type") != "application/json" ||
		w.Header().Get("Content-Length") != fmt.Sprint(len(want)) || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("got %s with %v", got, w.Header())
	}

	w = httptest.NewRecorder()
	h.ServeHTTP(w, streamtest.Post(strings.Replace(streamtest.Body("1", "resources/read", `"uri":"test://slow"`), `"_meta":{`, `"_meta":{"progressToken":"t",`, 1)))
	progress := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1,"total":2,"message":"half"}}`
	want = "event: message\ndata: " + progress + "\n\nevent: message\ndata: " + want + "\n\n"
	if got := w.Body.String(); got != want || w.Header().Get("Content-Type") != "text/event-stream" ||
		w.Header().Get("X-Accel-Buffering") != "no" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("got %s with %v", got, w.Header())
	}
}

func TestListen(t *testing.T) {
	s := streamtest.Source()
	h := streamtest.NewHandler(t, s, streamable.Config{})
	server := httptest.NewServer(h)
	defer server.Close()
	listen := streamtest.Body(`"L1"`, "subscriptions/listen", `"notifications":{"resourcesListChanged":true,"resourceSubscriptions":["test://text"],"promptsListChanged":true}`)
	response := streamtest.Send(t.Context(), t, server.URL, listen)
	next := streamtest.Events(t, response.Body)
	const head = `{"jsonrpc":"2.0","method":"notifications/%s","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"L1"}`
	steps := []struct {
		name string
		do   func()
		want string
	}{
		{"acknowledged", func() {}, fmt.Sprintf(head, "subscriptions/acknowledged") + `,"notifications":{"resourcesListChanged":true,"resourceSubscriptions":["test://text"]}}}`},
		{"updated", func() { s.Text("test://text", "new") }, fmt.Sprintf(head, "resources/updated") + `,"uri":"test://text"}}`},
		{"list changed", func() { s.Text("test://more", "") }, fmt.Sprintf(head, "resources/list_changed") + `}}`},
		{"end", func() { go h.Close() }, `{"jsonrpc":"2.0","id":"L1","result":{"resultType":"complete","_meta":{` +
			`"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/subscriptionId":"L1"}}}`},
		{"nothing more", func() {}, "EOF"},
	}
	for _, step := range steps {
		step.do()
		if got := next(); got != step.want {
			t.Errorf("%s: got %s, want %s", step.name, got, step.want)
		}
	}
	if response.Header.Get("Content-Type") != "text/event-stream" || response.Header.Get("X-Accel-Buffering") != "no" {
		t.Errorf("got %v", response.Header)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if status, code, _ := streamtest.Do(h, streamtest.Post(listen)); status != 200 || code != -32603 {
		t.Errorf("after Close: got %d, %d", status, code)
	}
	if status, _, _ := streamtest.Do(h, streamtest.Post(streamtest.Body("1", "resources/list", ""))); status != 200 {
		t.Errorf("other requests after Close: got %d", status)
	}
}

func TestClosedStreamCancels(t *testing.T) {
	s := streamtest.Source()
	ended := make(chan error)
	s.Handle(abi.Resource{URI: "test://long", Name: "long"}, func(ctx context.Context, _ *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		sink.Progress(abi.Progress{Done: 1})
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	})
	server := httptest.NewServer(streamtest.NewHandler(t, s, streamable.Config{}))
	defer server.Close()
	for _, request := range []string{
		strings.Replace(streamtest.Body("1", "resources/read", `"uri":"test://long"`), `"_meta":{`, `"_meta":{"progressToken":1,`, 1),
		streamtest.Body("1", "subscriptions/listen", `"notifications":{"resourcesListChanged":true}`),
	} {
		ctx, cancel := context.WithCancel(t.Context())
		response := streamtest.Send(ctx, t, server.URL, request)
		streamtest.Events(t, response.Body)()
		cancel()
	}
	if err := <-ended; err != context.Canceled {
		t.Errorf("got %v, want the read to be cancelled", err)
	}
	s.AwaitWatchers(0)
}

func TestALateBodyIsRefused(t *testing.T) {
	server := httptest.NewServer(streamtest.NewHandler(t, mcptest.New(), streamable.Config{BodyTimeout: 50 * time.Millisecond}))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", server.Listener.Addr())
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusBadRequest {
		t.Errorf("got status %d, want %d", response.StatusCode, http.StatusBadRequest)
	}
}
