package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/resource"
)

var update = flag.Bool("update", false, "write the transcripts anew")

// meta stands for $META in a transcript.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// TestTranscripts replays testdata/*.txt: prose, then requests after "-> " and what comes back after "<- ". A file that
// begins with "legacy" is spoken in revision 2025-11-25, one with "tools" by a server that offers tools.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := replay(t, filepath.Base(file), string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("transcript differs (-want +got):\n%s", diff)
			}
		})
	}
}

func replay(t *testing.T, name, transcript string) string {
	core := newCore(t, mcp.Config{Source: newSource(), Tools: strings.Contains(name, "tools")})
	var out strings.Builder
	for line := range strings.Lines(transcript) {
		if strings.HasPrefix(line, "<- ") {
			continue
		}
		out.WriteString(line)
		request, ok := strings.CutPrefix(line, "-> ")
		if !ok {
			continue
		}
		for _, answer := range ask(t, core, strings.HasPrefix(name, "legacy"), strings.ReplaceAll(request, "$META", meta)) {
			out.WriteString("<- " + answer + "\n")
		}
	}
	return out.String()
}

var errorID = regexp.MustCompile(`errorId(\\*":\\*")\w+`)

// ask returns all that comes back for one request.
func ask(t *testing.T, core *mcp.Core, legacy bool, request string) (answers []string) {
	add := func(text []byte) {
		if !json.Valid(text) || bytes.ContainsAny(text, "\n\r") {
			t.Errorf("not a line of JSON: %s", text)
		}
		answers = append(answers, errorID.ReplaceAllString(string(text), `errorId${1}#`))
	}
	notify := func(method string, params json.RawMessage) error {
		add(mcp.AppendNotification(nil, method, params))
		return nil
	}
	m, failed := mcp.ParseMessage([]byte(request))
	switch {
	case failed != nil:
		add(mcp.AppendError(nil, m.ID, failed))
	case legacy:
		call := &mcp.Call{Method: m.Method, Params: m.Params, Revision: mcp.Revision20251125, Notify: notify}
		result, failed := core.Call(t.Context(), call)
		if failed != nil {
			add(mcp.AppendError(nil, m.ID, failed))
		} else {
			add(result)
		}
	default:
		answer, _ := core.Answer(t.Context(), nil, m, mcp.ResponseStream{Notify: notify})
		add(answer)
	}
	return answers
}

func newCore(t testing.TB, cfg mcp.Config) *mcp.Core {
	t.Helper()
	cfg.Name, cfg.Version = "test", "1.2.3"
	core, err := mcp.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return core
}

// newSource has something of everything.
func newSource() *mcptest.Source {
	s := mcptest.New()
	s.PageSize = 2
	s.TTLMillis, s.CacheScope = 5000, abi.CachePublic
	s.Text("test://text", "Tom & \"Jerry\" <3\n\u2028 café")
	s.Text("test://empty", "")
	s.Blob("test://blob", []byte{0, 1, 2, 0xff})
	s.Handle(abi.Resource{
		URI: "test://rich", Name: "rich", Title: "Rich", Description: "Has everything", MIMEType: "text/markdown", Size: 12,
		Priority: 0.5, LastModified: "2026-01-02T03:04:05Z", Audience: abi.AudienceUser | abi.AudienceAssistant,
		Icons: []abi.Icon{{Source: "https://x.test/i.png", MIMEType: "image/png", Sizes: []string{"48x48", "any"}, Theme: "dark"}},
		Meta:  "{ \"a b\" : [ 1,\t2 ], \"io.modelcontextprotocol/serverInfo\": {}, \"dev\\u002emcp/x\": 1 }",
	}, rich)
	for name, h := range failures() {
		s.Handle(abi.Resource{URI: "zz:" + name, Name: name, Priority: math.NaN()}, h)
	}
	return s
}

// rich reads as three contents, with progress in between.
func rich(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	sink.Progress(abi.Progress{Done: 1, Total: 3, Message: "one"})
	heads := []abi.Content{
		{URI: "test://rich#1", MIMEType: "text/markdown", Kind: abi.KindText, ETag: `"v1"`, LastModified: "2026-01-02T03:04:05Z", Meta: `{"k": "v", "io.github.wasmres/etag": "v0"}`},
		{URI: "test://rich#2", Kind: abi.KindBlob, ETag: "v2"},
		{URI: "test://rich#3", Kind: abi.KindText, Meta: ` {"io.modelcontextprotocol/x": 1} `},
	}
	for i, body := range []string{"# é", "ab", "meta: " + req.Meta} {
		if err := sink.Content(&heads[i]); err != nil {
			return nil, err
		}
		for _, b := range []byte(body) {
			if err := sink.Body([]byte{b}); err != nil {
				return nil, err
			}
		}
		for _, done := range []float64{2, 2, 1, math.NaN(), math.Inf(1), 2.5 + float64(i)} {
			sink.Progress(abi.Progress{Done: done})
		}
	}
	return &abi.Reply{}, nil
}

// failures are reads that end in each kind of failure, after some output.
func failures() map[string]mcptest.Handler {
	fail := func(err error) mcptest.Handler {
		return func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
			return nil, errors.Join(mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindText}, []byte("void")), err)
		}
	}
	all := map[string]mcptest.Handler{
		"plain":       fail(errors.New("dial tcp 10.0.0.1: secret")),
		"wrapped":     fail(fmt.Errorf("read: %w", abi.Errorf(abi.CodeTrap, "The provider crashed").Because(errors.New("secret")))),
		"guest":       fail(&abi.Error{Code: abi.CodeInternal, Message: "No such table", Data: "{ \"table\" : \"t\" }"}),
		"bad-data":    fail(&abi.Error{Code: abi.CodeDenied, Message: "Not for you", Data: "{"}),
		"busy":        fail(&abi.Error{Code: abi.CodeBusy, RetryAfter: 1500 * time.Millisecond}),
		"deadline":    fail(context.DeadlineExceeded),
		"unknown":     fail(&abi.Error{Code: 999, Message: "?"}),
		"panic":       func(context.Context, *resource.Request, abi.Sink) (*abi.Reply, error) { panic("secret") },
		"not-found":   fail(abi.Errorf(abi.CodeNotFound, "moved to test://text")),
		"no-content":  func(context.Context, *resource.Request, abi.Sink) (*abi.Reply, error) { return &abi.Reply{}, nil },
		"latin-1":     send(abi.KindText, "caf\xe9 creme"),
		"half-a-rune": send(abi.KindText, "caf\xc3"),
		"no-kind":     send(abi.KindNone, ""),
	}
	for code := abi.CodeInvalidParams; code <= abi.CodeBusy; code++ {
		if name := code.String(); !strings.HasPrefix(name, "code_") {
			all["code-"+name] = fail(&abi.Error{Code: code})
		}
	}
	return all
}

// send reads as one content.
func send(kind abi.Kind, body string) mcptest.Handler {
	return func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		return &abi.Reply{}, mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: kind}, []byte(body))
	}
}
