package traces_test

import (
	"bytes"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/wasmres/wasmres/internal/telemetry/collector"
	"github.com/wasmres/wasmres/internal/telemetry/traces"
	"github.com/wasmres/wasmres/runtime/trace"
)

// A receiver is a collector.
type receiver struct {
	*httptest.Server
	hold chan struct{} // nil, or closed when requests are answered

	mu      sync.Mutex
	spans   []*tracepb.Span
	headers http.Header
	batches int
}

func newReceiver(t testing.TB, hold chan struct{}) *receiver {
	r := &receiver{hold: hold}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	var batch collectorpb.ExportTraceServiceRequest
	if err != nil || proto.Unmarshal(body, &batch) != nil || req.URL.Path != "/v1/traces" || req.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, "this is no OTLP", http.StatusBadRequest)
		return
	}
	if r.hold != nil {
		<-r.hold
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.headers = req.Header
	r.batches++
	for _, of := range batch.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			r.spans = append(r.spans, scope.Spans...)
		}
	}
}

func open(t testing.TB, to collector.Config, log *bytes.Buffer) *traces.Traces {
	t.Helper()
	c := traces.Config{Collector: to, Version: "1.2.3"}
	if log != nil { // the collector takes nothing
		c.Flush = 50 * time.Millisecond
	}
	if log != nil {
		c.Logger = slog.New(slog.NewTextHandler(log, nil))
	}
	all, err := traces.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = all.Close() })
	return all
}

// attributes are those of a span, as texts.
func attributes(s *tracepb.Span) map[string]string {
	all := map[string]string{}
	for _, kv := range s.Attributes {
		all[kv.Key] = kv.Value.Value.(*commonpb.AnyValue_StringValue).StringValue
	}
	return all
}

func TestASpanAsACollectorGetsIt(t *testing.T) {
	to := newReceiver(t, nil)
	all := open(t, collector.Config{Endpoint: to.URL, Sample: 0, Headers: map[string]string{"X-Scope": "acme"}}, nil)
	const id, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	began := time.Now().Add(-time.Second)
	request := trace.Begin(all.Tracer("acme"), trace.Request{
		Method: "resources/read", Revision: "2026-07-28", Began: began,
		Parents: [2]trace.Parent{{TraceParent: "wrong"}, {TraceParent: "00-" + id + "-" + parent + "-01", TraceState: "a=1,b=2"}},
	})
	call := request.Child("call")
	call.Set(trace.Provider, "hello")
	call.Set(trace.Template, strings.Repeat("x", 1000))
	call.Child("capability kv").End("unavailable")
	call.End("ok")
	request.End("not_found")
	if err := all.Close(); err != nil {
		t.Fatal(err)
	}
	if len(to.spans) != 3 || to.headers.Get("X-Scope") != "acme" {
		t.Fatalf("got %v, with %v", to.spans, to.headers)
	}
	kv, c, r := to.spans[0], to.spans[1], to.spans[2]
	if hex.EncodeToString(r.TraceId) != id || hex.EncodeToString(r.ParentSpanId) != parent || r.TraceState != "a=1,b=2" ||
		!bytes.Equal(c.ParentSpanId, r.SpanId) || !bytes.Equal(kv.ParentSpanId, c.SpanId) || !bytes.Equal(kv.TraceId, r.TraceId) {
		t.Errorf("got %v\n%v\n%v", r, c, kv)
	}
	if r.Name != "request resources/read" || r.Kind != tracepb.Span_SPAN_KIND_SERVER || r.StartTimeUnixNano != uint64(began.UnixNano()) ||
		r.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR || kv.Status.GetCode() != tracepb.Status_STATUS_CODE_ERROR {
		t.Errorf("got %v\n%v", r, kv)
	}
	is := attributes(r)
	if len(is) != 4 || is["mcp.method.name"] != "resources/read" || is["mcp.protocol.version"] != "2026-07-28" || is["wasmres.tenant"] != "acme" || is["error.type"] != "not_found" {
		t.Errorf("got %v", is)
	}
	if is := attributes(c); is["wasmres.provider"] != "hello" || len(is["wasmres.uri_template"]) != 256 {
		t.Errorf("got %v", is)
	}
	if n := all.Counts(); n != (traces.Counts{Sent: 3}) {
		t.Errorf("got %+v", n)
	}
}

// What a client says itself has no place in a span.
func TestAttributesAreFromFixedSets(t *testing.T) {
	to := newReceiver(t, nil)
	all := open(t, collector.Config{Endpoint: to.URL, Sample: 1}, nil)
	for _, r := range []trace.Request{{Method: "secret", Revision: "secret"}, {Method: "", Revision: "2026-secret"}, {Method: "ping", Revision: "2026-07-2x"}} {
		trace.Begin(all.Tracer(""), r).End("-32601")
	}
	if err := all.Close(); err != nil {
		t.Fatal(err)
	}
	if text := to.String(); strings.Contains(text, "secret") || strings.Contains(text, "2x") || len(to.spans) != 3 {
		t.Errorf("got %s", text)
	}
}

// String gives all spans.
func (r *receiver) String() string {
	var b strings.Builder
	for _, s := range r.spans {
		b.WriteString(s.String())
	}
	return b.String()
}

const sampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestWhichRequestsAreTraced(t *testing.T) {
	to := newReceiver(t, nil)
	begin := func(tr trace.Tracer, parent string) bool {
		s := trace.Begin(tr, trace.Request{Method: "resources/read", Parents: [2]trace.Parent{{TraceParent: parent}}})
		s.End("ok")
		return s != nil
	}
	none, every := open(t, collector.Config{Endpoint: to.URL}, nil).Tracer(""), open(t, collector.Config{Endpoint: to.URL, Sample: 1}, nil).Tracer("")
	for parent, want := range map[string][2]bool{ // none, every
		"":                                     {false, true},
		sampled:                                {true, true},
		strings.TrimSuffix(sampled, "1") + "0": {false, false}, // the client does not trace it
		"00-garbage":                           {false, true},
	} {
		if got := [2]bool{begin(none, parent), begin(every, parent)}; got != want {
			t.Errorf("%q: got %v, want %v", parent, got, want)
		}
	}
	forced := 0
	for range 1000 { // within far less than ten seconds
		if begin(none, sampled) {
			forced++
		}
	}
	if forced < 199 || forced >= 1000 {
		t.Errorf("a client has forced %d of 1000 traces, want about 200", forced)
	}
	half := 0
	tr := open(t, collector.Config{Endpoint: to.URL, Sample: 0.5}, nil).Tracer("")
	for range 1000 {
		if begin(tr, "") {
			half++
		}
	}
	if half < 400 || half > 600 {
		t.Errorf("%d of 1000 requests are traced, want a half", half)
	}
}

// A collector that does not answer delays nothing. What has no room is counted, and Close ends.
func TestACollectorThatHangs(t *testing.T) {
	hold := make(chan struct{})
	to := newReceiver(t, hold)
	defer close(hold)
	var log bytes.Buffer
	all := open(t, collector.Config{Endpoint: to.URL, Sample: 1}, &log)
	tracer := all.Tracer("acme")
	const spans = 10_000
	for range spans {
		trace.Begin(tracer, trace.Request{Method: "ping"}).End("ok")
	}
	if n := all.Counts(); n.Dropped != spans-2048 || n.Sent+n.Failed != 0 {
		t.Errorf("got %+v", n)
	}
	if err := all.Close(); err == nil {
		t.Error("what waits was sent")
	}
	trace.Begin(tracer, trace.Request{Method: "ping"}).End("ok") // of a request that goes on
	if !strings.Contains(log.String(), "spans of traces dropped") {
		t.Errorf("the log has %s", log.String())
	}
}

func TestACollectorThatIsAwayOrRefuses(t *testing.T) {
	away := httptest.NewServer(http.NotFoundHandler())
	refuses := httptest.NewServer(http.NotFoundHandler())
	defer refuses.Close()
	away.Close()
	for _, url := range []string{away.URL, refuses.URL} {
		var log bytes.Buffer
		all := open(t, collector.Config{Endpoint: url, Sample: 1}, &log)
		trace.Begin(all.Tracer(""), trace.Request{Method: "ping"}).End("ok")
		_ = all.Close()
		if n := all.Counts(); n.Failed != 1 || n.Sent+n.Dropped != 0 || !strings.Contains(log.String(), "traces not sent") {
			t.Errorf("got %+v, the log has %s", n, log.String())
		}
	}
}

func TestWrongConfigurations(t *testing.T) {
	for _, c := range []collector.Config{{}, {Endpoint: "x"}, {Endpoint: "http://127.0.0.1:1", Sample: 1.1}, {Endpoint: "http://127.0.0.1:1", Sample: -0.1}} {
		if all, err := traces.New(traces.Config{Collector: c}); err == nil {
			t.Errorf("%+v: got %v", c, all)
		}
	}
}

// isParent is the grammar of W3C Trace Context, with what it forbids.
var isParent = regexp.MustCompile(`(?s)\A[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?\z`)

// parentBy says which trace and span a text names; empty for none.
func parentBy(text string) (id, span string) {
	if !isParent.MatchString(text) || len(text) > 128 || text[:2] == "ff" || text[:2] == "00" && len(text) != 55 ||
		strings.Trim(text[3:35], "0") == "" || strings.Trim(text[36:52], "0") == "" {
		return "", ""
	}
	if text[:2] == "00" && text[53:55] > "03" { // flags that this version does not have
		return "", ""
	}
	return text[3:35], text[36:52]
}

var parents = []string{
	sampled, "", "00", "00-", strings.Repeat("0", 1000), "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	"00-00000000000000000000000000000000-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
	"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", sampled + "-more", "01" + sampled[2:] + "-more", "01" + sampled[2:] + "more",
	sampled + " ", " " + sampled, sampled + "\x00", sampled + "\r\nX: y", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-zz",
	"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff", "00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01", "\xff\xfe" + sampled,
	"00-０af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", sampled + "," + sampled, "cc" + sampled[2:],
}

var states = []string{"", "a=1", "a=1,,b=2", "=", "a=" + strings.Repeat("x", 300), strings.Repeat("k=v,", 40), strings.Repeat("x", 5000), "a=\x00", "\xff=1", "a=1,a=2"}

func TestHostileParents(t *testing.T) {
	for _, text := range parents {
		for _, state := range states {
			checkParent(t, text, state)
		}
	}
}

// checkParent holds the parent of a span to the grammar.
func checkParent(t *testing.T, text, state string) {
	t.Helper()
	wantID, wantSpan := parentBy(text)
	id, span, kept := traces.ParentOf(trace.Parent{TraceParent: text, TraceState: state})
	if id != wantID || span != wantSpan {
		t.Errorf("%q: the span belongs to %q, %q, want %q, %q", text, id, span, wantID, wantSpan)
	}
	if kept != "" && (id == "" || len(kept) > 2048 || strings.ContainsFunc(kept, func(r rune) bool { return r < ' ' || r > '~' }) || strings.Count(kept, ",") > 31) {
		t.Errorf("of the state %q it has %q", state, kept)
	}
}

func FuzzParent(f *testing.F) {
	for i, text := range parents {
		f.Add(text, states[i%len(states)])
	}
	f.Fuzz(checkParent)
}
