package mcp_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/resource"
)

func TestNewWantsEverything(t *testing.T) {
	_, err := mcp.New(mcp.Config{MaxSubscriptions: -1})
	for _, want := range []string{"Source", "Name", "Version", "MaxSubscriptions"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a complaint about %s", err, want)
		}
	}
}

func TestModernOnlyOffersNothingElse(t *testing.T) {
	core := newCore(t, mcp.Config{Source: newSource(), ModernOnly: true})
	answer := ask(t, core, false, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
	want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}}`
	if len(answer) != 1 || answer[0] != want {
		t.Errorf("got %s, want %s", answer, want)
	}
}

func TestAnswerAppends(t *testing.T) {
	core := newCore(t, mcp.Config{Source: newSource()})
	for _, uri := range []string{"test://text", "zz:plain", "zz:panic"} {
		m, _ := mcp.ParseMessage([]byte(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{` + meta + `,"uri":"` + uri + `"}}`))
		got, _ := core.Answer(t.Context(), []byte("before "), m, mcp.ResponseStream{})
		text, ok := strings.CutPrefix(string(got), "before ")
		if !ok || !json.Valid([]byte(text)) {
			t.Errorf("%s: got %s, want it appended", uri, got)
		}
	}
}

// TestRead encodes contents of many sizes, in pieces.
func TestRead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 2, 3, 4, 100, 65_520, 65_521, 65_522, 1 << 20, 3<<20 + 1} {
		blob := make([]byte, size)
		for i := range blob {
			blob[i] = byte(r.Uint32())
		}
		text := strings.Repeat("é\"\n日", size/8+1)
		s := mcptest.New()
		s.Blob("test://blob", blob)
		s.Text("test://text", text)
		core := newCore(t, mcp.Config{Source: s})
		for uri, want := range map[string]string{"test://blob": base64.StdEncoding.EncodeToString(blob), "test://text": text} {
			result, failed := core.Call(t.Context(), &mcp.Call{
				Method: "resources/read", Params: []byte(`{"uri":"` + uri + `"}`), Revision: mcp.Revision20251125,
			})
			var got struct {
				Contents []struct{ URI, Text, Blob string }
			}
			if failed != nil || json.Unmarshal(result, &got) != nil || len(got.Contents) != 1 {
				t.Fatalf("%s of %d: %v, %.100s", uri, size, failed, result)
			}
			if c := got.Contents[0]; c.URI != uri || c.Text+c.Blob != want {
				t.Errorf("%s of %d bytes came out wrong", uri, size)
			}
		}
	}
}

func TestGuestLearnsThatItsTextIsNone(t *testing.T) {
	for name, bodies := range map[string][]string{
		"at once":        {"\xff"},
		"in the middle":  {"abc\xc3", "\xc3abc"},
		"at the end":     {"abc\xc3"},
		"cut by another": {"\xe6\x97"},
	} {
		t.Run(name, func(t *testing.T) {
			s := mcptest.New()
			var learned error
			s.Handle(abi.Resource{URI: "test://x", Name: "x"}, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
				c := &abi.Content{URI: req.URI.String(), Kind: abi.KindText}
				learned = sink.Content(c)
				for _, b := range bodies {
					learned = errors.Join(learned, sink.Body([]byte(b)))
				}
				if learned == nil {
					learned = sink.Content(c)
				}
				return nil, learned
			})
			core := newCore(t, mcp.Config{Source: s})
			_, failed := core.Call(t.Context(), &mcp.Call{Method: "resources/read", Params: []byte(`{"uri":"test://x"}`)})
			if abi.CodeOf(learned) != abi.CodeInvalidText || failed == nil || failed.Code != 502 {
				t.Errorf("the guest learned %v, the client %v", learned, failed)
			}
		})
	}
}

func TestSinkWithoutContent(t *testing.T) {
	s := mcptest.New()
	s.Handle(abi.Resource{URI: "test://x", Name: "x"}, func(_ context.Context, _ *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		return nil, sink.Body([]byte("lost"))
	})
	core := newCore(t, mcp.Config{Source: s})
	if _, failed := core.Call(t.Context(), &mcp.Call{Method: "resources/read", Params: []byte(`{"uri":"test://x"}`)}); failed == nil || failed.Code != 502 {
		t.Errorf("got %v, want a failure of the provider", failed)
	}
}

func TestCausesAreForTheLog(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	core := newCore(t, mcp.Config{Source: newSource(), Logger: logger})
	for _, tt := range []struct{ uri, level, logged string }{
		{"zz:plain", "ERROR", "dial tcp 10.0.0.1: secret"},
		{"zz:wrapped", "WARN", "read: The provider crashed: secret"},
		{"zz:panic", "ERROR", "panic: secret"},
		{"test://nope", "DEBUG", "there is no such resource"},
	} {
		log.Reset()
		_, failed := core.Call(t.Context(), &mcp.Call{Method: "resources/read", Params: []byte(`{"uri":"` + tt.uri + `"}`)})
		if failed == nil || strings.Contains(failed.Message+string(failed.Data), "secret") {
			t.Errorf("%s: the client learned %v", tt.uri, failed)
			continue
		}
		var data struct{ ErrorID string }
		_ = json.Unmarshal(failed.Data, &data)
		got := log.String()
		if strings.Count(got, "\n") != 1 || !strings.Contains(got, "level="+tt.level) || !strings.Contains(got, tt.logged) || !strings.Contains(got, data.ErrorID) {
			t.Errorf("%s: got log %q, want one line of level %s with %q and id %q", tt.uri, got, tt.level, tt.logged, data.ErrorID)
		}
	}
}

// A client that asks each server for tools gets none.
func TestNoTools(t *testing.T) {
	core := newCore(t, mcp.Config{Source: newSource()})
	for _, revision := range []mcp.Revision{"2024-11-05", "2025-11-25", "2026-07-28"} {
		result, failed := core.Call(t.Context(), &mcp.Call{Method: "tools/list", Params: json.RawMessage(`{}`), Revision: revision})
		if failed != nil || !bytes.Contains(result, []byte(`"tools":[]`)) {
			t.Errorf("tools/list of %s: got %s, %v", revision, result, failed)
		}
	}
	if _, failed := core.Call(t.Context(), &mcp.Call{Method: "tools/call", Params: []byte(`{"name":"read_resource"}`)}); failed == nil || failed.Code != -32601 {
		t.Errorf("tools/call: got %v", failed)
	}
}

// Revisions before 2025-06-18 have no structured content, and no links to resources.
func TestToolsOfOlderRevisionsAnswerText(t *testing.T) {
	core := newCore(t, mcp.Config{Source: newSource(), Tools: true})
	for revision, want := range map[mcp.Revision]bool{"2024-11-05": false, "2025-03-26": false, "2025-06-18": true, "2025-11-25": true} {
		for method, params := range map[string]string{"tools/list": `{}`, "tools/call": `{"name":"list_resources"}`} {
			result, failed := core.Call(t.Context(), &mcp.Call{Method: method, Params: json.RawMessage(params), Revision: revision})
			if failed != nil {
				t.Fatal(failed)
			}
			if got := regexp.MustCompile(`outputSchema|structuredContent|resource_link`).Match(result); got != want {
				t.Errorf("%s of %s: got %s", method, revision, result)
			}
		}
	}
}

func TestCompletionIsBounded(t *testing.T) {
	for _, tt := range []struct {
		reply abi.Reply
		want  string
	}{
		{abi.Reply{}, `"hasMore":false}`},
		{abi.Reply{CompletionMore: true}, `"hasMore":true}`},
		{abi.Reply{CompletionTotal: 7}, `"total":7,"hasMore":true}`},
		{abi.Reply{Completions: make([]string, 100), CompletionTotal: 100}, `"total":100,"hasMore":false}`},
		{abi.Reply{Completions: make([]string, 101), CompletionTotal: 3}, `"total":101,"hasMore":true}`},
		{abi.Reply{Completions: make([]string, 101)}, `],"hasMore":true}`},
	} {
		core := newCore(t, mcp.Config{Source: completer{newSource(), &tt.reply}})
		result, failed := core.Call(t.Context(), &mcp.Call{Method: "completion/complete", Params: []byte(
			`{"ref":{"type":"ref/resource","uri":"x:{y}"},"argument":{"name":"y","value":""}}`)})
		var got struct{ Completion struct{ Values []string } }
		if failed != nil || json.Unmarshal(result, &got) != nil || len(got.Completion.Values) > 100 || !strings.Contains(string(result), tt.want) {
			t.Errorf("got %.300s, %v, want %s", result, failed, tt.want)
		}
	}
}

type completer struct {
	*mcptest.Source
	reply *abi.Reply
}

func (c completer) Complete(context.Context, *resource.Request) (*abi.Reply, error) {
	return c.reply, nil
}

func TestNumbersFitEveryParser(t *testing.T) {
	s := mcptest.New()
	s.TTLMillis = math.MaxUint64
	s.Handle(abi.Resource{URI: "test://x", Name: "x", Size: math.MaxUint64, Priority: math.Inf(1)}, nil)
	core := newCore(t, mcp.Config{Source: s})
	result, _ := core.Call(t.Context(), &mcp.Call{Method: "resources/list", Revision: mcp.Revision20260728})
	if want := `"resources":[{"uri":"test://x","name":"x"}],"ttlMs":9007199254740991,"cacheScope":"private"}`; !strings.Contains(string(result), want) {
		t.Errorf("got %s, want %s", result, want)
	}
}

func TestProgressIsBounded(t *testing.T) {
	s := mcptest.New()
	s.Handle(abi.Resource{URI: "test://x", Name: "x"}, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		for i := range 5000 {
			sink.Progress(abi.Progress{Done: float64(i), Message: strings.Repeat("x", 10_000)})
		}
		return &abi.Reply{}, mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindText}, nil)
	})
	core := newCore(t, mcp.Config{Source: s})
	for _, broken := range []bool{false, true} {
		sent, want := 0, 1000
		if broken {
			want = 1
		}
		_, failed := core.Call(t.Context(), &mcp.Call{
			Method: "resources/read", Params: []byte(`{"uri":"test://x","_meta":{"progressToken":1}}`),
			Notify: func(_ string, params json.RawMessage) error {
				if sent++; len(params) > 2000 {
					t.Errorf("a notification of %d bytes", len(params))
				}
				if broken {
					return errors.New("gone")
				}
				return nil
			},
		})
		if sent != want || failed != nil {
			t.Errorf("broken %v: %d were sent, want %d; %v", broken, sent, want, failed)
		}
	}
}

func TestGuestMeta(t *testing.T) {
	for _, tt := range []struct{ meta, want string }{
		{`{}`, ""},
		{`null`, ""},
		{`{"progressToken":1,"io.modelcontextprotocol/x":{}}`, ""},
		{`{"a" : {"b": [1, 2]} , "io.modelcontextprotocol\/x":1, "c":null}`, `{"a":{"b": [1, 2]},"c":null}`},
		{`{"a":"` + strings.Repeat("x", 17_000) + `"}`, ""},
		{`{"a":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, ""},
	} {
		s := mcptest.New()
		got := "unread"
		s.Handle(abi.Resource{URI: "test://x", Name: "x"}, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
			got = req.Meta
			return &abi.Reply{}, mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindText}, nil)
		})
		core := newCore(t, mcp.Config{Source: s})
		params := []byte(`{"uri":"test://x","_meta":` + tt.meta + `}`)
		if _, failed := core.Call(t.Context(), &mcp.Call{Method: "resources/read", Params: params}); failed != nil || got != tt.want {
			t.Errorf("%.60s: got %.60s, %v, want %s", tt.meta, got, failed, tt.want)
		}
	}
}

func TestLegacyInitialize(t *testing.T) {
	const legacy = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","x":1}}`
	for _, tt := range []struct{ name, in, want string }{
		{"modern", strings.Replace(legacy, "2025-11-25", "2026-07-28", 1), legacy},
		{"later", strings.Replace(legacy, "2025-11-25", "2030-01-01", 1), legacy},
		{"draft", strings.Replace(legacy, "2025-11-25", "DRAFT-2026-v1", 1), legacy},
		{"escaped", strings.NewReplacer("protocolV", `\u0070rotocolV`, "2025-11-25", `202\u0036-07-28`).Replace(legacy),
			strings.Replace(legacy, "protocolV", `\u0070rotocolV`, 1)},
		{"spaced", ` { "params" : { "protocolVersion" : "2026-07-28" } } `, `{"params":{"protocolVersion":"2025-11-25"}}`},
		{"twice", `{"params":{"protocolVersion":"2025-11-25","protocolVersion":"2026-07-28"}}`,
			`{"params":{"protocolVersion":"2025-11-25","protocolVersion":"2025-11-25"}}`},
		{"legacy", legacy, legacy},
		{"older", strings.Replace(legacy, "2025-11-25", "2024-11-05", 1), strings.Replace(legacy, "2025-11-25", "2024-11-05", 1)},
		{"legacy, spaced", ` { "params" : { "protocolVersion" : "2025-11-25" } } `, ` { "params" : { "protocolVersion" : "2025-11-25" } } `},
		{"number", `{"params":{"protocolVersion":3}}`, `{"params":{"protocolVersion":3}}`},
		{"elsewhere", `{"protocolVersion":"2026-07-28"}`, `{"protocolVersion":"2026-07-28"}`},
		{"params of another kind", `{"params":["2026-07-28"]}`, `{"params":["2026-07-28"]}`},
		{"cut off", `{"params":{"protocolVersion":"2026-07-28"}`, `{"params":{"protocolVersion":"2026-07-28"}`},
		{"nothing", ``, ``},
	} {
		if got := string(mcp.LegacyInitialize([]byte(tt.in))); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestDeepMessages(t *testing.T) {
	for _, tt := range []struct {
		depth int
		ok    bool
	}{{62, true}, {63, false}, {1_000_000, false}} {
		for _, open := range []string{"[", `{"a":`} {
			inner := strings.Repeat(open, tt.depth) + "1" + strings.Repeat(map[string]string{"[": "]", `{"a":`: "}"}[open], tt.depth)
			_, err := mcp.ParseMessage([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","method":"x","params":{"a":%s}}`, inner)))
			if (err == nil) != tt.ok {
				t.Errorf("depth %d of %s: got %v", tt.depth, open, err)
			}
		}
	}
}

func TestAClientThatReadsSlowlyDoesNotHoldUpTheGuest(t *testing.T) {
	over := make(chan struct{})
	s := mcptest.New()
	s.Handle(abi.Resource{URI: "test://x", Name: "x"}, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		defer close(over)
		for i := range 100 {
			sink.Progress(abi.Progress{Done: float64(i)})
		}
		return &abi.Reply{}, mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindText}, nil)
	})
	told := 0
	_, failed := newCore(t, mcp.Config{Source: s}).Call(t.Context(), &mcp.Call{
		Method: "resources/read", Params: []byte(`{"uri":"test://x","_meta":{"progressToken":1}}`),
		Notify: func(string, json.RawMessage) error {
			<-over // the guest is through before anything has been read
			told++
			return nil
		},
	})
	if failed != nil || told != 100 {
		t.Errorf("got %v, told %d times, want 100 before the answer", failed, told)
	}
}
