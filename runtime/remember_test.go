package runtime_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
)

// serveProbe serves a provider that asks for all it can get, until the end of the test, and gives its endpoint.
func serveProbe(t *testing.T, lifecycle abi.Lifecycle) string {
	t.Helper()
	p := load(t, hostile.Probe(lifecycle, false), &runtime.Options{Lifecycle: lifecycle})
	return serve(t, p.Source())
}

// A visitor is one client, which plants its token in all that it sends.
type visitor struct {
	t               *testing.T
	endpoint, token string
	session         string // empty for revision 2026-07-28
}

// do sends a request and gives the answer, its head included, with blobs decoded.
func (v *visitor) do(method, target, body string, headers ...string) (head http.Header, seen string) {
	req, err := http.NewRequestWithContext(v.t.Context(), method, target, strings.NewReader(body))
	if err != nil {
		v.t.Error(err)
		return nil, ""
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		v.t.Error(err)
		return nil, ""
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Error(err)
	}
	seen = fmt.Sprintln(resp.Header, string(answer))
	for _, blob := range blobs.FindAllSubmatch(answer, -1) {
		text, err := base64.StdEncoding.DecodeString(string(blob[1]))
		if err != nil {
			v.t.Error(err)
		}
		seen += string(text)
	}
	return resp.Header, seen
}

var (
	blobs   = regexp.MustCompile(`"blob":"([^"]*)"`)
	planted = regexp.MustCompile(`token-of-client-[a-z]+`)
)

// ask sends a JSON-RPC request, in the visitor's session if it has one.
func (v *visitor) ask(method string, params map[string]any) string {
	meta := map[string]any{"example.com/token": v.token}
	headers := []string{"MCP-Protocol-Version", "2025-11-25", "Mcp-Session-Id", v.session}
	if v.session == "" {
		meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28"
		meta["io.modelcontextprotocol/clientCapabilities"] = struct{}{}
		headers = []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method}
		if uri, ok := params["uri"].(string); ok {
			headers = append(headers, "Mcp-Name", uri)
		}
	}
	params["_meta"] = meta
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": v.token, "method": method, "params": params})
	if err != nil {
		v.t.Error(err)
	}
	_, seen := v.do("POST", v.endpoint, string(body), headers...)
	return seen
}

// begin opens a session of an older revision.
func (v *visitor) begin() {
	head, _ := v.do("POST", v.endpoint, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",
		"capabilities":{},"clientInfo":{"name":"`+v.token+`","version":"1"}}}`)
	v.session = head.Get("Mcp-Session-Id")
	v.do("POST", v.endpoint, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", v.session, "MCP-Protocol-Version", "2025-11-25")
}

// visit asks in all ways there are, and fails the test where an answer has what is another client's.
func (v *visitor) visit() {
	for _, ending := range []string{"/a", "/e", "/t", "/a"} {
		uri := "x:" + v.token + ending
		_, download := v.do("GET", v.endpoint+"?uri="+url.QueryEscape(uri), "")
		answers := map[string]string{
			"a download": download, "a read": v.ask("resources/read", map[string]any{"uri": uri}),
			"a list": v.ask("resources/list", map[string]any{}),
		}
		for what, seen := range answers {
			for _, token := range planted.FindAllString(seen, -1) {
				if token != v.token {
					v.t.Errorf("%s of %s has %s", what, v.token, token)
					return
				}
			}
		}
		if read := answers["a read"]; ending == "/a" && strings.Count(read, v.token) < 3 {
			v.t.Errorf("the probe of %s has not seen its own request: %.300s", v.token, read)
		}
	}
}

func TestNoAnswerOverHTTPHasAnythingOfAnotherClient(t *testing.T) {
	for _, lifecycle := range []abi.Lifecycle{abi.LifecycleFresh, abi.LifecycleSession, abi.LifecycleShared} {
		t.Run(lifecycle.String(), func(t *testing.T) {
			endpoint := serveProbe(t, lifecycle)
			var all sync.WaitGroup
			for _, name := range []string{"a", "b", "c", "d"} {
				all.Go(func() {
					v := &visitor{t: t, endpoint: endpoint, token: "token-of-client-" + name}
					if name > "b" {
						v.begin()
					}
					v.visit()
				})
			}
			all.Wait()
		})
	}
}
