package legacy_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/legacy"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A fake is a core and a source of a few resources. Its answers are constant, so that tests can compare bytes.
type fake struct {
	ended   chan string   // sessions
	calls   chan mcp.Call // each call, as it came; discarded when the test does not receive it
	started chan struct{} // one token for each read of test://slow that has begun
	stopped chan error    // why each read of test://slow ended

	mu      sync.Mutex // guards watches
	watches map[*fakeWatch]bool
}

type fakeWatch struct {
	ctx  context.Context
	uris []abi.URI
	list bool
	n    resource.Notifier
}

func newFake() *fake {
	return &fake{
		ended:   make(chan string, 100),
		calls:   make(chan mcp.Call, 100),
		started: make(chan struct{}, 100),
		stopped: make(chan error, 100),
		watches: make(map[*fakeWatch]bool),
	}
}

// contents are results of resources/read, by URI.
var contents = map[string]string{
	"test://text":    `{"contents":[{"uri":"test://text","mimeType":"text/plain","text":"hello"}]}`,
	"test://empty":   `{"contents":[{"uri":"test://empty","text":""}]}`,
	"test://markup":  `{"contents":[{"uri":"test://markup","text":"<a href=\"x\">&</a>"}],"_meta":{"n":12345678901234567890}}`,
	"test://größe/日": `{"contents":[{"uri":"test://größe/日","text":"wide"}]}`,
	"test://watched": `{"contents":[{"uri":"test://watched","text":"now"}]}`,
	"test://other":   `{"contents":[{"uri":"test://other","blob":"AAEC"}]}`,
}

// OpenStream implements [legacy.Caller].
func (f *fake) OpenStream(context.Context, string, func()) (leave func(), failure *mcp.Error) {
	return func() {}, nil
}

// AfterResponse implements [legacy.Caller].
func (f *fake) AfterResponse() {}

// EndSession implements [legacy.Caller].
func (f *fake) EndSession(session string) { offer(f.ended, session) }

func (f *fake) Call(ctx context.Context, call *mcp.Call) (json.RawMessage, *mcp.Error) {
	offer(f.calls, *call)
	var p struct {
		URI    string
		Name   string
		Cursor *string
		Meta   struct{ ProgressToken json.RawMessage } `json:"_meta"`
	}
	if call.Params != nil && json.Unmarshal(call.Params, &p) != nil {
		return nil, &mcp.Error{Code: -32602, Message: "malformed"}
	}
	switch call.Method {
	case "resources/list":
		return list(p.Cursor)
	case "resources/templates/list":
		return json.RawMessage(`{"resourceTemplates":[{"uriTemplate":"test://item/{id}","name":"item"}]}`), nil
	case "resources/read":
		return f.read(ctx, call, p.URI, p.Meta.ProgressToken)
	case "completion/complete":
		return json.RawMessage(`{"completion":{"values":["one","two"],"total":2,"hasMore":false}}`), nil
	case "tools/list":
		return json.RawMessage(`{"tools":[{"name":"read_resource","inputSchema":{"type":"object"}}]}`), nil
	case "tools/call":
		return json.RawMessage(`{"content":[{"type":"text","text":"` + p.Name + `"}]}`), nil
	}
	return nil, &mcp.Error{Code: -32601, Message: "method not found"}
}

func list(cursor *string) (json.RawMessage, *mcp.Error) {
	switch {
	case cursor == nil:
		return json.RawMessage(`{"resources":[{"uri":"test://text","name":"text"}],"nextCursor":"p2"}`), nil
	case *cursor == "p2":
		return json.RawMessage(`{"resources":[{"uri":"test://other","name":"other"}]}`), nil
	}
	return nil, &mcp.Error{Code: -32602, Message: "unknown cursor", Data: json.RawMessage(`{"cursor":` + quote(*cursor) + `}`)}
}

func (f *fake) read(ctx context.Context, call *mcp.Call, uri string, token json.RawMessage) (json.RawMessage, *mcp.Error) {
	switch uri {
	case "test://slow":
		offer(f.started, struct{}{})
		<-ctx.Done()
		offer(f.stopped, context.Cause(ctx))
		return nil, &mcp.Error{Code: -32603, Message: "cancelled"}
	case "test://progress":
		for _, done := range []string{"1", "2"} {
			params := `{"progressToken":` + string(token) + `,"progress":` + done + `,"total":2}`
			if err := call.Notify("notifications/progress", json.RawMessage(params)); err != nil {
				return nil, &mcp.Error{Code: -32603, Message: err.Error()}
			}
		}
		return json.RawMessage(contents["test://text"]), nil
	}
	if c, ok := contents[uri]; ok {
		return json.RawMessage(c), nil
	}
	return nil, &mcp.Error{Code: -32002, Message: "Resource not found", Data: json.RawMessage(`{"uri":` + quote(uri) + `}`)}
}

func (f *fake) Subscribe(ctx context.Context, uris []abi.URI, list bool, n resource.Notifier) ([]abi.URI, error) {
	for _, u := range uris {
		if strings.HasPrefix(u.String(), "test://broken") {
			return nil, (&abi.Error{Code: abi.CodeUnavailable, Message: "come back later"}).Because(context.DeadlineExceeded)
		}
	}
	uris = slices.DeleteFunc(slices.Clone(uris), func(u abi.URI) bool { return contents[u.String()] == "" })
	w := &fakeWatch{ctx: ctx, uris: uris, list: list, n: n}
	f.mu.Lock()
	f.watches[w] = true
	f.mu.Unlock()
	context.AfterFunc(ctx, func() {
		f.mu.Lock()
		delete(f.watches, w)
		f.mu.Unlock()
	})
	return uris, nil
}

// change reports a change of uri, or of the list when it is empty.
func (f *fake) change(uri string) {
	f.mu.Lock()
	var watches []*fakeWatch
	for w := range f.watches {
		if uri == "" && w.list || slices.ContainsFunc(w.uris, func(u abi.URI) bool { return u.String() == uri }) {
			watches = append(watches, w)
		}
	}
	f.mu.Unlock()
	for _, w := range watches {
		if w.ctx.Err() == nil {
			resource.Notify(w.n, uri)
		}
	}
}

func (f *fake) watching() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.watches)
}

// newFront makes a front over f. It is closed when the test ends.
func newFront(t *testing.T, f *fake, change ...func(*legacy.Config)) *legacy.Front {
	t.Helper()
	cfg := legacy.Config{Core: f, Source: f, Name: "fake", Title: "A fake", Version: "1.2.3", Instructions: "read on"}
	for _, c := range change {
		c(&cfg)
	}
	front, err := legacy.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { front.Close() })
	return front
}

func withTools(c *legacy.Config) { c.Tools = true }

// eventually waits for cond.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("still not: %s", what)
		}
	}
}

// within receives from ch.
func within[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(time.Minute):
		t.Fatalf("did not receive %s in time", what)
		panic("unreachable")
	}
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// offer sends v, or discards it if the channel is full.
func offer[T any](ch chan T, v T) {
	select {
	case ch <- v:
	default:
	}
}
