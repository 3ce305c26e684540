//go:build unix

package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/guesttest"
)

// A receiver is a collector of OpenTelemetry.
type receiver struct {
	mu    sync.Mutex
	spans []*tracepb.Span
	token string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	var batch collectorpb.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &batch); err != nil || req.URL.Path != "/v1/traces" {
		http.Error(w, "this is no OTLP", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.token = req.Header.Get("Authorization")
	for _, of := range batch.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			r.spans = append(r.spans, scope.Spans...)
		}
	}
}

// take gives the spans since the last call. A request that its sender has given up may still be in ServeHTTP.
func (r *receiver) take() []*tracepb.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	spans := r.spans
	r.spans = nil
	return spans
}

// tree gives the spans of a trace, each after the one that it is in, with attributes.
func tree(spans []*tracepb.Span, id, parent string) (text string) {
	for _, s := range spans {
		if hex.EncodeToString(s.TraceId) != id || hex.EncodeToString(s.ParentSpanId) != parent {
			continue
		}
		text += "(" + s.Name
		for _, kv := range s.Attributes {
			text += " " + kv.Key + "=" + kv.Value.GetStringValue()
		}
		text += tree(spans, id, hex.EncodeToString(s.SpanId)) + ")"
	}
	return text
}

const clientTrace, clientSpan = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"

// readTraced reads a resource as a client that has a trace.
func readTraced(t *testing.T, endpoint, key, uri, meta string, header http.Header) {
	t.Helper()
	for again := range 10 { // a server that is still loading the provider says so after 20 s
		answer := askTraced(t, endpoint, key, uri, meta, header)
		switch {
		case strings.Contains(answer, `"contents"`):
			return
		case again == 9 || !strings.Contains(answer, `"code":"unavailable"`):
			t.Fatal(answer)
		}
	}
}

func askTraced(t *testing.T, endpoint, key, uri, meta string, header http.Header) string {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":%q,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{}%s}}}`, uri, meta)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer " + key},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"resources/read"}, "Mcp-Name": {uri},
	}
	for name, values := range header {
		r.Header[name] = values
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%d %s, %v", answer.StatusCode, text, err)
	}
	return string(text)
}

// end ends a program, and waits until it has.
func end(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // with a status of its own
}

// A collector gets the whole way of a request through a server of tenants, in the trace of the client.
func TestServeSendsTraces(t *testing.T) {
	to := &receiver{}
	collector := httptest.NewServer(to)
	defer collector.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"headers":    "Authorization: Bearer collector\n",
		"serve.yaml": "listen: [{address: \"127.0.0.1:0\"}]\ndata: data\nwatch: false\ntraces: {endpoint: " + collector.URL + ", headers: headers, sample: 0%}\n",
		"tenants/acme.yaml": fmt.Sprintf("providers:\n  files: {module: %q, policy: ../policy.yaml}\nroles:\n  reader: [{uris: [\"**\"]}]\n",
			guesttest.File(t, "project")),
		"policy.yaml":      "version: \"1.0\"\npermissions:\n  storage:\n    allow: [{uri: \"fs://folder/**\", guest: /project, access: [read]}]\n",
		"folder/README.md": "# secret\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("wasmres", "serve", "--config", filepath.Join(dir, "serve.yaml"), "--cache-dir", guesttest.CacheDir(t))
	_, _, d := startRun(t, cmd)
	endpoint := d.await(t, `Serving 1 tenant at (http://127\.0\.0\.1:\d+)/t/`)[1] + "/t/acme/mcp"
	d.await(t, "operators can connect")
	o := operator{t, admintest.Validate(t, filepath.Join(dir, "data", "admin.sock"))}
	key := strings.TrimSpace(o.run("key new acme --role reader", 0, `\Awr_`, ""))
	parent := "00-" + clientTrace + "-" + clientSpan + "-01"
	readTraced(t, endpoint, key, "project://file/README.md", `,"traceparent":"`+parent+`"`, nil)
	readTraced(t, endpoint, key, "project://readme", "", http.Header{"Traceparent": {strings.Replace(parent, "b7", "c8", 1)}}) // on the fast path
	readTraced(t, endpoint, key, "project://readme", "", nil)
	end(t, cmd)
	spans := to.take()
	const provider = " wasmres.provider=files wasmres.version=1.0.0"
	for _, c := range []struct{ parent, template string }{{clientSpan, "project://file/{filename}"}, {"c8" + clientSpan[2:], ""}} {
		about := provider
		if c.template != "" {
			about += " wasmres.uri_template=" + c.template
		}
		got := tree(spans, clientTrace, c.parent)
		for _, want := range []string{
			"(request resources/read mcp.method.name=resources/read mcp.protocol.version=2026-07-28 wasmres.tenant=acme" + about + "(guard)(queue)(call wasmres.operation=read" + about,
			"(capability fs wasmres.operation=read)", "(capability fs wasmres.operation=stat)",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("got %s\nwant %s in it", got, want)
			}
		}
		if strings.Contains(got, "README") || strings.Contains(got, "readme") || strings.Contains(got, "reader") {
			t.Errorf("got %s", got)
		}
	}
	for _, s := range spans {
		if hex.EncodeToString(s.TraceId) != clientTrace {
			t.Errorf("a request without a trace has %v", s)
		}
	}
	to.mu.Lock()
	defer to.mu.Unlock()
	if to.token != "Bearer collector" {
		t.Errorf("the collector got the header %q", to.token)
	}
}

// The standard variables are enough for one provider, and a collector that is away keeps nothing from ending.
func TestRunSendsTraces(t *testing.T) {
	to := &receiver{}
	collector := httptest.NewServer(to)
	defer collector.Close()
	away := httptest.NewServer(to)
	away.Close()
	for url, want := range map[string]int{collector.URL: 3, away.URL: 0} {
		cmd := exec.Command("wasmres", "run", "--http", "127.0.0.1:0", "--cache-dir", guesttest.CacheDir(t), guesttest.File(t, "hello"))
		cmd.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+url)
		_, _, d := startRun(t, cmd)
		readTraced(t, d.await(t, `Serving MCP at (\S+)`)[1], "", "hello://about", "", nil)
		end(t, cmd)
		if spans := to.take(); len(spans) != want { // request, queue, call
			t.Errorf("%s: got %v", url, spans)
		}
	}
	for _, args := range []string{"--trace-endpoint x", "--trace-sample 10", "--trace-headers x", "--trace-endpoint http://127.0.0.1:1 --trace-sample 10"} {
		out, err := exec.Command("wasmres", append(append([]string{"run"}, strings.Fields(args)...), guesttest.File(t, "hello"))...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "--trace-") {
			t.Errorf("%s: got %v, %s", args, err, out)
		}
	}
}
