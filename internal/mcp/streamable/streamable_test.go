package streamable_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
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
	"github.com/wasmres/wasmres/internal/mcp"
	"github.com/wasmres/wasmres/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/resource"
)

const revision = "2026-07-28"

// body makes a modern request; params are members after _meta.
func body(id, method, params string) string {
	if params != "" {
		params = "," + params
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{}}%s}}`, id, method, revision, params)
}

// post makes a POST with the headers a client must send. headers are changes: an empty value takes a header away.
func post(body string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://mcp.test"+streamable.Path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", revision)
	var m struct {
		Method string
		Params struct{ URI, Name string }
	}
	if json.Unmarshal([]byte(body), &m) == nil {
		r.Header.Set("Mcp-Method", m.Method)
		if name := m.Params.URI + m.Params.Name; name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		} else if r.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	return r
}

func source() *mcptest.Source {
	s := mcptest.New()
	s.Text("test://text", "hello")
	s.Text("test://café", "coffee")
	s.Handle(abi.Resource{URI: "test://slow", Name: "slow"}, func(_ context.Context, req *abi.Request, sink abi.Sink) (*abi.Reply, error) {
		sink.Progress(abi.Progress{Done: 1, Total: 2, Message: "half"})
		return &abi.Reply{}, mcptest.Send(sink, &abi.Content{URI: req.URI, Kind: abi.KindText}, []byte("done"))
	})
	s.Handle(abi.Resource{URI: "test://trap", Name: "trap"}, func(context.Context, *abi.Request, abi.Sink) (*abi.Reply, error) {
		return nil, abi.Errorf(abi.CodeTrap, "The provider crashed")
	})
	s.Handle(abi.Resource{URI: "test://panic", Name: "panic"}, func(context.Context, *abi.Request, abi.Sink) (*abi.Reply, error) {
		panic("secret")
	})
	return s
}

// testHosts are the hosts that requests of these tests name where no connection has an address.
var testHosts = []string{"mcp.test", "example.com", "localhost"}

// newHandler makes a Handler. Nil AllowedHosts stand for testHosts.
func newHandler(t testing.TB, src resource.Source, cfg streamable.Config) *streamable.Handler {
	t.Helper()
	if cfg.AllowedHosts == nil {
		cfg.AllowedHosts = testHosts
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

// do gives the status, the error code or 0, and the body.
func do(h http.Handler, r *http.Request) (status, code int, answer string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var m struct{ Error mcp.Error }
	_ = json.Unmarshal(w.Body.Bytes(), &m)
	return w.Code, m.Error.Code, w.Body.String()
}

func TestModern(t *testing.T) {
	h := newHandler(t, source(), streamable.Config{MaxRequestBytes: 10_000})
	list, read := body("1", "resources/list", ""), body("1", "resources/read", `"uri":"test://text"`)
	sentinel := func(s string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?=" }
	coffee := body("1", "resources/read", `"uri":"test://café"`)
	tests := []struct {
		name         string
		request      *http.Request
		status, code int
	}{
		{"list", post(list), 200, 0},
		{"read", post(read), 200, 0},
		{"charset", post(list, "Content-Type", "application/json; charset=utf-8"), 200, 0},
		{"tool", post(body("1", "tools/call", `"name":"list_resources"`)), 200, 0},
		{"not found", post(body("1", "resources/read", `"uri":"test://nope"`)), 200, -32602},
		{"no such method", post(body("1", "ping", "")), 404, -32601},
		{"prompt", post(body("1", "prompts/get", `"name":"p"`)), 404, -32601},
		{"guest failure", post(body("1", "resources/read", `"uri":"test://trap"`)), 200, 502},
		{"panic", post(body("1", "resources/read", `"uri":"test://panic"`)), 200, -32603},

		{"no version header", post(list, "MCP-Protocol-Version", ""), 400, -32020},
		{"other version header", post(list, "MCP-Protocol-Version", "2025-11-25"), 400, -32020},
		{"other version in both", post(strings.Replace(list, revision, "v999", 1), "MCP-Protocol-Version", "v999"), 400, -32022},
		{"other version in the body", post(strings.Replace(list, revision, "v999", 1)), 400, -32020},
		{"other version in the header alone", post(`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, "MCP-Protocol-Version", "v999"), 400, -32022},
		{"no meta", post(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`), 400, -32602},
		{"no capabilities", post(strings.Replace(list, "clientCapabilities", "x", 1)), 400, -32602},
		{"no such log level", post(strings.Replace(list, `"_meta":{`, `"_meta":{"io.modelcontextprotocol/logLevel":"loud",`, 1)), 400, -32602},
		{"params of no method", post(strings.Replace(list, `"params":{`, `"params":{"cursor":"","cursor":"",`, 1)), 400, -32602},
		{"unknown cursor", post(body("1", "resources/list", `"cursor":"nonsense"`)), 200, -32602},
		{"unknown prompt", post(body("1", "completion/complete", `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"n","value":""}`)), 200, -32602},
		{"no method header", post(list, "Mcp-Method", ""), 400, -32020},
		{"other method header", post(list, "Mcp-Method", "resources/read"), 400, -32020},
		{"method header in other case", post(list, "Mcp-Method", "Resources/List"), 400, -32020},
		{"no name header", post(read, "Mcp-Name", ""), 400, -32020},
		{"other name header", post(read, "Mcp-Name", "test://other"), 400, -32020},
		{"name of no value", post(body("1", "resources/read", ""), "Mcp-Name", "x"), 200, -32602},
		{"tool without name header", post(body("1", "tools/call", `"name":"list_resources"`), "Mcp-Name", ""), 400, -32020},
		{"encoded name", post(coffee, "Mcp-Name", sentinel("test://café")), 200, 0},
		{"encoded name without need", post(read, "Mcp-Name", sentinel("test://text")), 200, 0},
		{"other encoded name", post(coffee, "Mcp-Name", sentinel("test://cafe")), 400, -32020},
		{"name beyond ASCII", post(coffee), 400, -32020},
		{"bad base64", post(read, "Mcp-Name", "=?base64?!?="), 400, -32020},
		{"encoded name in other case", post(read, "Mcp-Name", strings.Replace(sentinel("test://text"), "base64", "BASE64", 1)), 400, -32020},
		{"overlapping marks", post(read, "Mcp-Name", "=?base64?="), 400, -32020},

		{"stray session", post(list, "Mcp-Session-Id", "x", "Last-Event-Id", "7"), 200, 0},
		{"accept anything", post(list, "Accept", "*/*"), 200, 0},
		{"accept kinds", post(list, "Accept", "text/*;q=0.5 , application/*"), 200, 0},
		{"accept nothing", post(list, "Accept", ""), 406, -32600},
		{"accept JSON", post(list, "Accept", "application/json"), 406, -32600},
		{"accept streams", post(list, "Accept", "text/event-stream"), 406, -32600},
		{"accept no streams", post(list, "Accept", "application/json, text/event-stream; q=0"), 406, -32600},
		{"content type", post(list, "Content-Type", "text/plain"), 415, -32600},
		{"no content type", post(list, "Content-Type", ""), 415, -32600},
		{"too long", post(list + strings.Repeat(" ", 10_000)), 413, -32600},
		{"not JSON", post("{"), 400, -32700},
		{"empty", post(""), 400, -32700},
		{"batch", post("[" + list + "]"), 400, -32600},
		{"response", post(`{"jsonrpc":"2.0","id":1,"result":{}}`), 400, -32600},
		{"notification", post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`), 202, 0},

		{"listen to nothing said", post(body("1", "subscriptions/listen", "")), 200, -32602},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, code, answer := do(h, tt.request)
			if status != tt.status || code != tt.code {
				t.Errorf("got status %d, code %d, want %d, %d: %s", status, code, tt.status, tt.code, answer)
			}
		})
	}
}

func TestHeaderTwice(t *testing.T) {
	h := newHandler(t, source(), streamable.Config{})
	for _, name := range []string{"MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"} {
		r := post(body("1", "resources/read", `"uri":"test://text"`))
		r.Header.Add(name, r.Header.Get(name))
		if status, code, _ := do(h, r); status != 400 || code != -32020 {
			t.Errorf("%s twice: got %d, %d, want 400, -32020", name, status, code)
		}
	}
}

func TestOtherPathsAndMethods(t *testing.T) {
	h := newHandler(t, source(), streamable.Config{})
	tests := []struct {
		method, path string
		status       int
		allow, body  string
	}{
		{"GET", "/", 200, "", "wasmres serves the Model Context Protocol at /mcp\n"},
		{"POST", "/", 404, "", "nothing here: the Model Context Protocol is at /mcp\n"},
		{"GET", "/other", 404, "", "nothing here: the Model Context Protocol is at /mcp\n"},
		{"GET", "/mcp", 405, "POST", "MCP messages are sent here with POST; GET with ?uri=URI downloads a resource\n"},
		{"DELETE", "/mcp", 405, "POST", "MCP messages are sent here with POST; GET with ?uri=URI downloads a resource\n"},
		{"PUT", "/mcp", 405, "POST", "MCP messages are sent here with POST; GET with ?uri=URI downloads a resource\n"},
		{"OPTIONS", "/mcp", 405, "POST", "MCP messages are sent here with POST; GET with ?uri=URI downloads a resource\n"},
	}
	for _, tt := range tests {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(tt.method, tt.path, nil))
		if w.Code != tt.status || w.Header().Get("Allow") != tt.allow || w.Body.String() != tt.body {
			t.Errorf("%s %s: got %d, Allow %q, %q", tt.method, tt.path, w.Code, w.Header().Get("Allow"), w.Body)
		}
	}
}

// legacy records what it is handed.
type legacy struct{ requests []string }

// Begin implements [streamable.Legacy]: there are no sessions.
func (l *legacy) Begin(string, string, *mcp.Message, context.CancelCauseFunc) (func(), bool) {
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

func TestEras(t *testing.T) {
	const (
		isLegacy = http.StatusTeapot
		list     = `{"jsonrpc":"2.0", "id":1,"method":"resources/list"}`
		initial  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`
	)
	modern := body("1", "resources/list", "")
	tests := []struct {
		name    string
		request *http.Request
		status  int
		body    string // the legacy handler gets; that of the request if empty
	}{
		{"modern", post(modern), 200, ""},
		{"modern with a session", post(modern, "Mcp-Session-Id", "s"), 200, ""},
		{"modern body, no header", post(modern, "MCP-Protocol-Version", ""), 400, ""},
		{"modern header, no meta", post(list), 400, ""},
		{"unknown header, no meta", post(list, "MCP-Protocol-Version", "x"), 400, ""},
		{"discover without anything", post(`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, "MCP-Protocol-Version", ""), 400, ""},
		{"legacy header", post(list, "MCP-Protocol-Version", "2025-06-18"), isLegacy, list},
		{"legacy session", post(list, "MCP-Protocol-Version", "", "Mcp-Session-Id", "s"), isLegacy, list},
		{"nothing said", post(list, "MCP-Protocol-Version", ""), isLegacy, list},
		{"legacy batch", post("["+list+"]", "MCP-Protocol-Version", "2025-03-26"), isLegacy, "[" + list + "]"},
		{"legacy nonsense", post("{", "MCP-Protocol-Version", ""), isLegacy, "{"},
		{"initialize", post(initial, "MCP-Protocol-Version", ""), isLegacy, initial},
		{"initialize for a modern revision", post(strings.Replace(initial, "2025-11-25", "2026-07-28", 1), "MCP-Protocol-Version", ""), isLegacy, initial},
		{"initialize with a modern header", post(strings.Replace(initial, "2025-11-25", "2026-07-28", 1)), isLegacy, initial},
		{"modern initialize", post(body("1", "initialize", "")), 404, ""},
		{"legacy without content type", post(list, "MCP-Protocol-Version", "", "Content-Type", ""), 415, ""},
		{"stream", httptest.NewRequest("GET", "/mcp", nil), 405, ""},
		{"stream of a session", withSession(httptest.NewRequest("GET", "/mcp", nil)), isLegacy, ""},
		{"end of a session", withSession(httptest.NewRequest("DELETE", "/mcp", nil)), isLegacy, ""},
		{"put with a session", withSession(httptest.NewRequest("PUT", "/mcp", nil)), 405, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := &legacy{}
			h := newHandler(t, source(), streamable.Config{Legacy: l})
			var want []string
			if tt.status == isLegacy {
				want = []string{tt.request.Method + " " + tt.body}
			}
			status, _, answer := do(h, tt.request)
			if diff := cmp.Diff(want, l.requests); status != tt.status || diff != "" {
				t.Errorf("got status %d, want %d: %s; handed on (-want +got):\n%s", status, tt.status, answer, diff)
			}
		})
	}
}

func withSession(r *http.Request) *http.Request {
	r.Header.Set("Mcp-Session-Id", "s")
	return r
}

func TestNewRefuses(t *testing.T) {
	core, err := mcp.New(mcp.Config{Source: source(), Name: "test", Version: "1"})
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
	h := newHandler(t, source(), streamable.Config{})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, post(body("1", "resources/read", `"uri":"test://slow"`)))
	want := `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"}},` +
		`"contents":[{"uri":"test://slow","text":"done"}],"ttlMs":0,"cacheScope":"private"}}`
	if got := w.Body.String(); got != want || w.Header().Get("Content-Type") != "application/json" ||
		w.Header().Get("Content-Length") != fmt.Sprint(len(want)) || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("got %s with %v", got, w.Header())
	}

	w = httptest.NewRecorder()
	h.ServeHTTP(w, post(strings.Replace(body("1", "resources/read", `"uri":"test://slow"`), `"_meta":{`, `"_meta":{"progressToken":"t",`, 1)))
	progress := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1,"total":2,"message":"half"}}`
	want = "event: message\ndata: " + progress + "\n\nevent: message\ndata: " + want + "\n\n"
	if got := w.Body.String(); got != want || w.Header().Get("Content-Type") != "text/event-stream" ||
		w.Header().Get("X-Accel-Buffering") != "no" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("got %s with %v", got, w.Header())
	}
}

// events reads a stream, one data line at a time; comments come as they are.
func events(t *testing.T, r io.Reader) func() string {
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

func send(t *testing.T, ctx context.Context, url, body string) *http.Response {
	t.Helper()
	r := post(body, "Host", strings.TrimPrefix(url, "http://"))
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, url+streamable.Path, bytes.NewReader([]byte(body)))
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

func TestListen(t *testing.T) {
	s := source()
	h := newHandler(t, s, streamable.Config{})
	server := httptest.NewServer(h)
	defer server.Close()
	listen := body(`"L1"`, "subscriptions/listen", `"notifications":{"resourcesListChanged":true,"resourceSubscriptions":["test://text"],"promptsListChanged":true}`)
	response := send(t, t.Context(), server.URL, listen)
	next := events(t, response.Body)
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
	if status, code, _ := do(h, post(listen)); status != 200 || code != -32603 {
		t.Errorf("after Close: got %d, %d", status, code)
	}
	if status, _, _ := do(h, post(body("1", "resources/list", ""))); status != 200 {
		t.Errorf("other requests after Close: got %d", status)
	}
}

func TestClosedStreamCancels(t *testing.T) {
	s := source()
	ended := make(chan error)
	s.Handle(abi.Resource{URI: "test://long", Name: "long"}, func(ctx context.Context, _ *abi.Request, sink abi.Sink) (*abi.Reply, error) {
		sink.Progress(abi.Progress{Done: 1})
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	})
	server := httptest.NewServer(newHandler(t, s, streamable.Config{}))
	defer server.Close()
	for _, request := range []string{
		strings.Replace(body("1", "resources/read", `"uri":"test://long"`), `"_meta":{`, `"_meta":{"progressToken":1,`, 1),
		body("1", "subscriptions/listen", `"notifications":{"resourcesListChanged":true}`),
	} {
		ctx, cancel := context.WithCancel(t.Context())
		response := send(t, ctx, server.URL, request)
		events(t, response.Body)()
		cancel()
	}
	if err := <-ended; err != context.Canceled {
		t.Errorf("got %v, want the read to be cancelled", err)
	}
	s.AwaitWatchers(0)
}

func TestABodyThatDoesNotComeIsNotWaitedFor(t *testing.T) {
	server := httptest.NewServer(newHandler(t, mcptest.New(), streamable.Config{BodyTimeout: 50 * time.Millisecond}))
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
