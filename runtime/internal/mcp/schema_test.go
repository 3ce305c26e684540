package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/legacy"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/internal/mcp/stdio"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
)

// requests are one of each kind that every revision has, with params but for _meta.
var requests = []struct{ method, params string }{
	{"resources/list", ``},
	{"resources/list", `"cursor":"2"`},
	{"resources/list", `"cursor":"nonsense"`},
	{"resources/templates/list", ``},
	{"resources/read", `"uri":"test://text"`},
	{"resources/read", `"uri":"test://empty"`},
	{"resources/read", `"uri":"test://blob"`},
	{"resources/read", `"uri":"greeting://Ada"`},
	{"resources/read", `"uri":"test://nope"`},
	{"resources/read", `"uri":"zz:guest"`},
	{"resources/read", `"uri":"zz:panic"`},
	{"resources/read", `"uri":7`},
	{"completion/complete", `"ref":{"type":"ref/resource","uri":"greeting://{name}"},"argument":{"name":"name","value":"A"}`},
	{"completion/complete", `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"name","value":"A"}`},
	{"tools/list", ``},
	{"tools/call", `"name":"list_resources"`},
	{"tools/call", `"name":"read_resource","arguments":{"uri":"test://rich"}`},
	{"tools/call", `"name":"read_resource","arguments":{"uri":"test://nope"}`},
	{"prompts/list", ``},
}

// TestEveryMessageFitsItsSchema speaks each revision on both transports, and holds all that comes back to the schema of
// that revision.
func TestEveryMessageFitsItsSchema(t *testing.T) {
	for _, revision := range mcptest.Revisions() {
		for name, dial := range map[string]func(*testing.T, *mcptest.Source) peer{"stdio": dialStdio, "HTTP": dialHTTP} {
			t.Run(revision+" "+name, func(t *testing.T) {
				s := newSource()
				p := dial(t, s)
				if mcp.Revision(revision).Legacy() {
					speakLegacy(t, p, revision, s)
				} else {
					speakModern(t, p, revision, s)
				}
			})
		}
	}
}

// A peer sends one message and gives the messages that come back, with the answer as the last; a notification has none.
type peer interface {
	ask(t *testing.T, revision, method, message string) [][]byte
	// hear returns the next message on the stream that method opened, or on the session's.
	hear(t *testing.T) []byte
}

func speakLegacy(t *testing.T, p peer, revision string, s *mcptest.Source) {
	check := func(method string, params string) {
		t.Helper()
		message := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params)
		for _, answer := range p.ask(t, revision, method, message) {
			holds(t, revision, method, answer)
		}
	}
	check("initialize", `"protocolVersion":"`+revision+`","capabilities":{},"clientInfo":{"name":"c","version":"1"}`)
	p.ask(t, revision, "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	check("ping", "")
	for _, r := range requests {
		check(r.method, r.params)
	}
	check("resources/read", `"uri":"test://rich","_meta":{"progressToken":"t"}`)
	check("resources/subscribe", `"uri":"test://text"`)
	s.Text("test://text", "new")
	holds(t, revision, "", p.hear(t))
	check("resources/unsubscribe", `"uri":"test://text"`)
}

func speakModern(t *testing.T, p peer, revision string, s *mcptest.Source) {
	check := func(method, params string) {
		t.Helper()
		if params != "" {
			params = "," + params
		}
		message := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s%s}}`, method, meta, params)
		for _, answer := range p.ask(t, revision, method, message) {
			holds(t, revision, method, answer)
		}
	}
	check("server/discover", "")
	for _, r := range requests {
		check(r.method, r.params)
	}
	token := strings.Replace(meta, `{`, `{"progressToken":7,`, 1)
	for _, answer := range p.ask(t, revision, "resources/read", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{`+token+`,"uri":"test://rich"}}`) {
		holds(t, revision, "resources/read", answer)
	}
	unknown := strings.Replace(meta, revision, "2025-11-25", 1)
	for _, answer := range p.ask(t, "2025-11-25", "resources/list", `{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{`+unknown+`}}`) {
		holds(t, revision, "resources/list", answer)
	}
	check(mcp.ListenMethod, `"notifications":{"resourceSubscriptions":["test://text"],"resourcesListChanged":true}`)
	s.Text("test://text", "new")
	holds(t, revision, "", p.hear(t))
	s.Text("test://added", "")
	holds(t, revision, "", p.hear(t))
}

func holds(t *testing.T, revision, method string, message []byte) {
	t.Helper()
	if err := mcptest.CheckMessage(revision, method, message); err != nil {
		t.Errorf("%v: %s", err, message)
	}
}

// newFronts makes a core and the front of the older revisions over the same source.
func newFronts(t *testing.T, s *mcptest.Source) (*mcp.Core, *legacy.Front) {
	t.Helper()
	core := newCore(t, mcp.Config{Source: s, Tools: true})
	front, err := legacy.New(legacy.Config{Core: core, Source: s, Name: "test", Version: "1", Tools: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { front.Close() })
	return core, front
}

// A pipe is a client on stdio.
type pipe struct {
	in    io.Writer
	lines chan []byte
}

type connector struct{ *legacy.Front }

func (c connector) Connect(ctx context.Context, send func([]byte) error) (stdio.LegacySession, error) {
	return c.Front.Connect(ctx, send)
}

func dialStdio(t *testing.T, s *mcptest.Source) peer {
	core, front := newFronts(t, s)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- stdio.Serve(t.Context(), stdio.Config{Core: core, Legacy: connector{front}, In: in, Out: out})
		out.Close()
	}()
	p := &pipe{in: toServer, lines: make(chan []byte, 100)}
	go func() {
		scan := bufio.NewScanner(fromServer)
		scan.Buffer(nil, 1<<20)
		for scan.Scan() {
			p.lines <- bytes.Clone(scan.Bytes())
		}
	}()
	t.Cleanup(func() {
		toServer.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *pipe) ask(t *testing.T, _, method, message string) (all [][]byte) {
	t.Helper()
	if _, err := io.WriteString(p.in, message+"\n"); err != nil {
		t.Fatal(err)
	}
	for method != "" {
		line := within(t, p.lines)
		all = append(all, line)
		if ends(t, method, line) {
			break
		}
	}
	return all
}

func (p *pipe) hear(t *testing.T) []byte { return within(t, p.lines) }

// ends reports whether message is the answer to a request, or the first of those to a subscription.
func ends(t *testing.T, method string, message []byte) bool {
	t.Helper()
	var m struct{ Method string }
	if err := json.Unmarshal(message, &m); err != nil {
		t.Fatalf("%s: %v", message, err)
	}
	return m.Method == "" || method == mcp.ListenMethod
}

// A web is a client over HTTP.
type web struct {
	url, session string
	events       chan []byte // of the stream that stays open
}

func dialHTTP(t *testing.T, s *mcptest.Source) peer {
	core, front := newFronts(t, s)
	h, err := streamable.New(streamable.Config{Core: core, Legacy: front})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	t.Cleanup(func() { h.Close(); front.Close(); server.CloseClientConnections() })
	return &web{url: server.URL + streamable.Path, events: make(chan []byte, 100)}
}

func (w *web) ask(t *testing.T, revision, method, message string) (all [][]byte) {
	t.Helper()
	events := make(chan []byte, 100)
	res := w.do(t, http.MethodPost, revision, method, message)
	if id := res.Header.Get("Mcp-Session-Id"); id != "" && w.session == "" {
		w.session = id
	}
	switch {
	case method == "":
		res.Body.Close()
		w.listen(t, revision)
	case !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream"):
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return [][]byte{body}
	case method == mcp.ListenMethod:
		go follow(res.Body, w.events)
		return [][]byte{w.hear(t)}
	default:
		follow(res.Body, events)
		for e := range events {
			all = append(all, e)
		}
	}
	return all
}

// listen opens the stream of a session.
func (w *web) listen(t *testing.T, revision string) {
	t.Helper()
	go follow(w.do(t, http.MethodGet, revision, "", "").Body, w.events)
}

func (w *web) do(t *testing.T, verb, revision, method, message string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), verb, w.url, strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if w.session != "" {
		req.Header.Set("Mcp-Session-Id", w.session)
	}
	if method != "initialize" {
		req.Header.Set("Mcp-Protocol-Version", revision)
	}
	req.Header.Set("Mcp-Method", method)
	if m, _ := mcp.ParseMessage([]byte(message)); m != nil {
		if target, ok, _ := m.Target(); ok {
			req.Header.Set("Mcp-Name", target)
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func (w *web) hear(t *testing.T) []byte { return within(t, w.events) }

// follow hands on the data of each event, until the stream ends.
func follow(body io.ReadCloser, events chan<- []byte) {
	defer body.Close()
	defer close(events)
	scan := bufio.NewScanner(body)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		if data, ok := bytes.CutPrefix(scan.Bytes(), []byte("data: ")); ok && len(data) > 0 {
			events <- bytes.Clone(data)
		}
	}
}
