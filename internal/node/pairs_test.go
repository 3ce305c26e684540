package node_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/childtest"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/node"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/accesslog"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
)

func TestMain(m *testing.M) {
	runtime.Main()
	sqlcap.Main()
	if role := roles[childtest.Role()]; role != nil {
		if err := role(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A hosted server has two tenants with the same provider, each with a folder, a store and a key of its own.
type hosted struct {
	*node.Node
	tb      testing.TB
	address string
	keys    map[string]string // by tenant

	mu      sync.Mutex
	entries []accesslog.Entry // guarded by mu
	log     lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// unbounded is a plan of that name, for clients that send as much as they can.
const unbounded = "  unbounded: {requests: {rate: 1000000/s, burst: 1000000}, principal_requests: {rate: 1000000/s, burst: 1000000}, concurrent: 10000}\n"

// secretOf is a text that only one tenant may ever see.
func secretOf(id string) string { return "secret-of-" + id }

func host(tb testing.TB, ids ...string) *hosted {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "data")
	module := guesttest.File(tb, "memory")
	for _, id := range ids {
		files := filepath.Join(dir, "files-"+id)
		write(tb, filepath.Join(files, "note.txt"), secretOf(id))
		write(tb, filepath.Join(files, "only-"+id+".txt"), secretOf(id))
		for i := range 30 {
			write(tb, filepath.Join(files, fmt.Sprintf("%s-%02d.txt", secretOf(id), i)), "x")
		}
		write(tb, filepath.Join(dir, "tenants", id+".yaml"), fmt.Sprintf(`
providers:
  memory:
    module: %q
    permissions:
      storage:
        allow: [{uri: "fs://%s/**", guest: /memory, access: [read]}]
      kv: {namespace: shared}
      config: {count_lookups: "true"}
roles:
  reader: [{uris: ["**"]}]
`, module, files))
	}
	write(tb, filepath.Join(dir, "serve.yaml"), "listen: [{address: \"127.0.0.1:0\"}]\nplans:\n"+unbounded)
	s, err := tenant.ReadSettings(filepath.Join(dir, "serve.yaml"), dir)
	if err != nil {
		tb.Fatal(err)
	}
	h := &hosted{tb: tb, keys: map[string]string{}}
	n, report, err := node.Open(tb.Context(), node.Config{
		Settings: s, CacheDir: guesttest.CacheDir(tb), AccessLog: h.note, Version: "1",
		Logger: slog.New(slog.NewTextHandler(&h.log, nil)),
	})
	if err != nil {
		tb.Fatal(err)
	}
	if len(report.Problems) > 0 {
		tb.Fatal(report.Problems)
	}
	h.Node = n
	h.serve()
	for _, id := range ids {
		h.keys[id] = h.newKey(id)
	}
	return h
}

// serve serves until the end of the test.
func (h *hosted) serve() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.tb.Fatal(err)
	}
	h.address = l.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(ctx, l, nil) }()
	h.tb.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			h.tb.Error(err)
		}
		if err := h.Close(); err != nil {
			h.tb.Error(err)
		}
	})
}

func (h *hosted) note(e accesslog.Entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.entries = append(h.entries, e)
}

func (h *hosted) newKey(id string) string {
	_, text, err := h.Create(h.tb.Context(), "test", admin.KeySpec{
		Tenant: id, Name: "client-of-" + id, Roles: []string{"reader"}, Expires: time.Now().Add(time.Hour),
	})
	if err != nil {
		h.tb.Fatal(err)
	}
	return text
}

func write(tb testing.TB, file, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// A request is one to a tenant's endpoint.
type request struct {
	tenant, key string
	method      string // of MCP; empty for a download of uri
	uri         string
	params      map[string]any
	session     string // of a revision that has sessions; empty for the newest revision
	http        string // method; empty for POST
}

// An answer is what a client gets.
type answer struct {
	status int
	header http.Header
	body   string
}

func (h *hosted) build(r request) *http.Request {
	h.tb.Helper()
	url := "http://" + h.address + "/t/" + r.tenant + "/mcp"
	method, body := http.MethodPost, io.Reader(nil)
	switch {
	case r.http != "":
		method = r.http
	case r.method == "":
		method, url = http.MethodGet, url+"?uri="+r.uri
	default:
		params := map[string]any{}
		maps.Copy(params, r.params)
		if r.session == "" {
			params["_meta"] = map[string]any{
				"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": struct{}{},
				"io.modelcontextprotocol/clientInfo": map[string]string{"name": "test", "version": "1"},
			}
		}
		if r.uri != "" {
			params["uri"] = r.uri
		}
		text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": r.method, "params": params})
		if err != nil {
			h.tb.Fatal(err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, url, body)
	if err != nil {
		h.tb.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	switch {
	case r.session != "":
		req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		req.Header.Set("Mcp-Session-Id", r.session)
	case r.method == "initialize":
	case r.method != "":
		req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		req.Header.Set("Mcp-Method", r.method)
	}
	if r.uri != "" && r.method != "" && r.session == "" {
		req.Header.Set("Mcp-Name", r.uri)
	}
	if r.key != "" {
		req.Header.Set("Authorization", "Bearer "+r.key)
	}
	return req
}

func (h *hosted) do(r request) answer {
	h.tb.Helper()
	resp, err := http.DefaultClient.Do(h.build(r))
	if err != nil {
		h.tb.Fatal(err)
	}
	defer resp.Body.Close()
	if isEndless := r.http == http.MethodGet || r.method == "subscriptions/listen"; isEndless && resp.StatusCode == http.StatusOK {
		line, _ := bufio.NewReader(resp.Body).ReadString('\n') // of a stream that goes on
		return answer{resp.StatusCode, resp.Header, line}
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		h.tb.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(text)}
}

// initialize begins a session of revision 2025-11-25.
func (h *hosted) initialize(id string) string {
	h.tb.Helper()
	params := map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": struct{}{}, "clientInfo": map[string]string{"name": "test", "version": "1"},
	}
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
	if err != nil {
		h.tb.Fatal(err)
	}
	req := h.build(request{tenant: id, key: h.keys[id], http: http.MethodPost})
	req.Body = io.NopCloser(bytes.NewReader(text))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.tb.Fatal(err)
	}
	defer resp.Body.Close()
	session := resp.Header.Get("Mcp-Session-Id")
	if session == "" {
		text, _ := io.ReadAll(resp.Body)
		h.tb.Fatalf("no session: %d %s", resp.StatusCode, text)
	}
	return session
}

const noteURI = "memory://context/note"

// methods are all that a client may ask of a tenant.
func methods() map[string]request {
	complete := map[string]any{
		"ref": map[string]any{"type": "ref/resource", "uri": "memory://context/{+key}"}, "argument": map[string]any{"name": "key", "value": "s"},
	}
	listen := map[string]any{"notifications": map[string]any{"resourcesListChanged": true, "resourceSubscriptions": []string{noteURI}}}
	return map[string]request{
		"discover":  {method: "server/discover"},
		"list":      {method: "resources/list"},
		"templates": {method: "resources/templates/list"},
		"read":      {method: "resources/read", uri: noteURI},
		"complete":  {method: "completion/complete", params: complete},
		"listen":    {method: "subscriptions/listen", params: listen},
		"unknown":   {method: "no/such"},
		"download":  {uri: noteURI},
		"stream":    {http: http.MethodGet},
		"end":       {http: http.MethodDelete},
		"options":   {http: "PUT"},
	}
}

// A key of another tenant is as one that does not exist, whatever is asked, and the answer says nothing of either tenant.
func TestAKeyOpensItsTenantAlone(t *testing.T) {
	h := host(t, "a", "b")
	unknown := h.newKey("b")
	if err := h.Revoke(t.Context(), "test", unknown[3:strings.IndexByte(unknown[3:], '_')+3], 0); err != nil {
		t.Fatal(err)
	}
	for name, r := range methods() {
		for _, open := range []bool{false, true} {
			if open {
				if got := h.do(request{tenant: "a", key: h.keys["a"], uri: noteURI}); got.status != http.StatusOK || got.body != secretOf("a") {
					t.Fatalf("%s: the tenant's own key: got %d %s", name, got.status, got.body)
				}
			}
			var answers []answer
			for _, key := range []string{h.keys["b"], unknown} {
				r.tenant, r.key = "a", key
				got := h.do(r)
				got.header.Del("Date")
				if got.status != http.StatusUnauthorized || strings.Contains(got.body, "secret") {
					t.Errorf("%s with a key of another tenant: got %d %s", name, got.status, got.body)
				}
				answers = append(answers, got)
			}
			if fmt.Sprint(answers[0]) != fmt.Sprint(answers[1]) {
				t.Errorf("%s: a key of another tenant and none differ: %v, %v", name, answers[0], answers[1])
			}
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.entries {
		if e.Tenant == "a" && e.Principal == "client-of-b" {
			t.Errorf("the access log of one tenant names a client of the other: %+v", e)
		}
	}
}

// What a client got from one tenant is of no use at another: cursors, sessions, URIs, values that both stored by one name.
func TestNothingOfATenantWorksAtAnother(t *testing.T) {
	h := host(t, "a", "b")
	own := func(id string, r request) answer {
		t.Helper()
		r.tenant, r.key = id, h.keys[id]
		return h.do(r)
	}
	for range 2 { // before and after something is cached
		for _, id := range []string{"a", "b"} {
			other := map[string]string{"a": "b", "b": "a"}[id]
			for name, r := range methods() {
				if got := own(id, r); strings.Contains(got.body, secretOf(other)) {
					t.Errorf("%s at %s: got the other's data: %s", name, id, got.body)
				}
			}
			if got := own(id, request{method: "resources/read", uri: noteURI}); !strings.Contains(got.body, secretOf(id)) {
				t.Errorf("read at %s: got %s", id, got.body)
			}
			missing := own(id, request{method: "resources/read", uri: "memory://context/only-" + other})
			if !strings.Contains(missing.body, "not_found") {
				t.Errorf("a URI of %s at %s: got %s", other, id, missing.body)
			}
		}
	}
	lookUp := request{method: "resources/read", uri: "memory://word/resource"}
	if got := own("a", lookUp); !strings.Contains(got.body, "text") {
		t.Fatalf("got %s", got.body)
	}
	lookups := request{method: "resources/read", uri: "memory://context/lookups"}
	if got := own("a", lookups); strings.Contains(got.body, "not_found") {
		t.Errorf("the lookup is not remembered: %s", got.body)
	}
	if got := own("b", lookups); !strings.Contains(got.body, "not_found") {
		t.Errorf("one tenant's values at the other: got %s", got.body)
	}
	session := h.initialize("b")
	for _, key := range []string{h.keys["a"], h.keys["b"]} {
		for _, r := range []request{
			{method: "resources/read", uri: noteURI, session: session}, {http: http.MethodGet, session: session}, {http: http.MethodDelete, session: session},
		} {
			r.tenant, r.key = "a", key
			if got := h.do(r); got.status != http.StatusNotFound && got.status != http.StatusUnauthorized || strings.Contains(got.body, "secret") {
				t.Errorf("a session of another tenant: got %d %s", got.status, got.body)
			}
		}
	}
	if got := own("b", request{method: "resources/read", uri: noteURI, session: session}); !strings.Contains(got.body, secretOf("b")) {
		t.Errorf("the session does not go on at its own tenant: %d %s", got.status, got.body)
	}
	if log := h.log.String(); strings.Contains(log, "secret-of") {
		t.Errorf("the log has data of tenants: %s", log)
	}
}

// A cursor that a client got from one tenant leads to nothing of it at another.
func TestACursorIsThatOfItsTenant(t *testing.T) {
	h := host(t, "a", "b")
	for id := range h.keys {
		for i := range 1000 { // a page
			write(t, filepath.Join(h.Settings().Data, "files-"+id, fmt.Sprintf("%s-more-%d.txt", secretOf(id), i)), "x")
		}
	}
	list := func(id string, params map[string]any) string {
		t.Helper()
		return h.do(request{tenant: id, key: h.keys[id], method: "resources/list", params: params}).body
	}
	var page struct {
		Result struct{ NextCursor string }
	}
	if err := json.Unmarshal([]byte(list("a", nil)), &page); err != nil || page.Result.NextCursor == "" {
		t.Fatalf("a list has one page alone: %v", err)
	}
	next := map[string]any{"cursor": page.Result.NextCursor}
	if got := list("a", next); !strings.Contains(got, secretOf("a")) {
		t.Errorf("the second page: got %s", got)
	}
	if got := list("b", next); strings.Contains(got, secretOf("a")) {
		t.Errorf("a cursor of one tenant at the other: got %s", got)
	}
}

// A change in the folder of one tenant is told to its own clients alone.
func TestChangesAreToldToTheirTenant(t *testing.T) {
	h := host(t, "a", "b")
	events := map[string]chan string{}
	for _, id := range []string{"a", "b"} {
		r := methods()["listen"]
		r.tenant, r.key = id, h.keys[id]
		resp, err := http.DefaultClient.Do(h.build(r))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		all := make(chan string, 100)
		events[id] = all
		go func() {
			defer close(all)
			for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
				if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
					all <- data
				}
			}
		}()
		if first := <-all; !strings.Contains(first, "acknowledged") {
			t.Fatalf("got %s", first)
		}
	}
	data := h.Settings().Data
	write(t, filepath.Join(data, "files-a", "note.txt"), "changed")
	if event := <-events["a"]; !strings.Contains(event, noteURI) && !strings.Contains(event, "list_changed") {
		t.Errorf("got %s", event)
	}
	if got := h.do(request{tenant: "b", key: h.keys["b"], uri: noteURI}); got.body != secretOf("b") {
		t.Errorf("got %s", got.body)
	}
	if len(events["b"]) > 0 {
		t.Errorf("the other tenant was told %s", <-events["b"])
	}
}
