package provider_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/resource"
)

// open loads an example provider with pages of pageSize.
func open(t testing.TB, example string, pageSize int) *provider.Provider {
	t.Helper()
	return openBinary(t, provider.Config{
		Runner: pool.InProcess{Engine: cachedEngine(t)}, Limits: limits.Limits{Timeout: 20 * time.Second}, ModuleCache: guesttest.Modules,
		PageSize: pageSize,
	}, guesttest.Binary(t, example))
}

type text struct{ strings.Builder }

func (s *text) Content(*abi.Content) error { return nil }
func (s *text) Body(p []byte) error        { _, err := s.Write(p); return err }
func (s *text) Progress(abi.Progress)      {}

func read(ctx context.Context, p *provider.Provider, uri string) (string, error) {
	parsed, err := abi.ParseURI(uri)
	if err != nil {
		return "", err
	}
	var got text
	_, err = p.Read(ctx, &resource.Request{URI: parsed}, &got)
	return got.String(), err
}

func TestReadRoutesByTemplateAndByExactURI(t *testing.T) {
	p := open(t, "everything", 0)
	for _, tt := range []struct {
		uri, want string
		code      abi.Code
	}{
		{"test://static-text", "This is the content of the static text resource.", abi.CodeOK},
		{"test://template/a%20b/data", `"id":"a b"`, abi.CodeOK},
		{"test://empty", "", abi.CodeOK},
		{"test://ünïcode/日本語", "日本語", abi.CodeOK},
		{"test://%C3%BCn%c3%afcode/日%E6%9C%AC語", "日本語", abi.CodeOK},
		{"test://nothing-here", "", abi.CodeNotFound},
		{"test://../static-text", "", abi.CodeInvalidParams},
		{"test://a/%2e%2e/b", "", abi.CodeInvalidParams},
		{"test://a%2fb", "", abi.CodeInvalidParams},
		{"test://a%00b", "", abi.CodeInvalidParams},
		{"no scheme", "", abi.CodeInvalidParams},
	} {
		got, err := read(t.Context(), p, tt.uri)
		if abi.CodeOf(err) != tt.code || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %.80q, %v, want %q, %v", tt.uri, got, err, tt.want, tt.code)
		}
	}
}

func TestEveryPageSizeListsTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("it lists very often")
	}
	var want []string
	for _, size := range []int{1000, 3, 7, 1} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			p := open(t, "everything", size)
			got := uris(t, p, size, 30)
			if want == nil {
				want = got
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		})
	}
}

// uris lists the first limit URIs, page by page.
func uris(t *testing.T, p *provider.Provider, pageSize, limit int) []string {
	t.Helper()
	var all []string
	req := &resource.Request{}
	for len(all) < limit {
		page, err := p.List(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Resources) > pageSize {
			t.Fatalf("a page has %d entries, want at most %d", len(page.Resources), pageSize)
		}
		for _, r := range page.Resources {
			all = append(all, r.URI)
		}
		if page.NextCursor == "" {
			break
		}
		req = &resource.Request{Cursor: page.NextCursor}
	}
	return all[:min(limit, len(all))]
}

func TestTheWholeListHasNoEntryTwice(t *testing.T) {
	p := open(t, "everything", 0)
	all := uris(t, p, 1000, 1<<20)
	seen := map[string]bool{}
	for _, uri := range all {
		if seen[uri] {
			t.Fatalf("%s is listed twice", uri)
		}
		seen[uri] = true
	}
	if len(all) < 10_000 {
		t.Errorf("got %d entries, want 10,000 and more", len(all))
	}
}

func TestForgedCursorsAreRefused(t *testing.T) {
	p := open(t, "everything", 5)
	for _, cursor := range []string{"x", "s", "s-1", "s0", "s999999", "s1e3", "\x00", strings.Repeat("g", 5000), "gnonsense"} {
		if _, err := p.List(t.Context(), &resource.Request{Cursor: cursor}); abi.CodeOf(err) != abi.CodeInvalidParams {
			t.Errorf("cursor %.20q: got %v, want invalid_params", cursor, err)
		}
	}
	if _, err := p.Templates(t.Context(), &resource.Request{Cursor: "x"}); abi.CodeOf(err) != abi.CodeInvalidParams {
		t.Errorf("templates: got %v, want invalid_params", err)
	}
}

func TestCompletionAnswersForDeclaredVariablesOnly(t *testing.T) {
	p := open(t, "everything", 0)
	const template = "test://template/{id}/data"
	reply, err := p.Complete(t.Context(), &resource.Request{Template: template, Arg: "id", Value: "1"})
	if err != nil || len(reply.Completions) == 0 {
		t.Errorf("got %+v, %v, want values", reply, err)
	}
	for _, req := range []resource.Request{{Template: template, Arg: "other"}, {Template: "test://{unknown}", Arg: "unknown"}} {
		if _, err := p.Complete(t.Context(), &req); abi.CodeOf(err) != abi.CodeInvalidParams {
			t.Errorf("%s of %s: got %v, want invalid_params", req.Arg, req.Template, err)
		}
	}
}

func TestUpdatesReachOnlyThoseWhoWatch(t *testing.T) {
	p := open(t, "everything", 0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	watching, other := make(chan string, 16), make(chan string, 16)
	if got, err := p.Subscribe(ctx, parse("test://watched-resource"), true, resource.NotifierFunc(func(uri string) { watching <- uri })); err != nil || len(got) != 1 {
		t.Fatalf("watch: got %v, %v", got, err)
	}
	if _, err := p.Subscribe(ctx, parse("test://static-text"), false, resource.NotifierFunc(func(uri string) { other <- uri })); err != nil {
		t.Fatal(err)
	}
	for _, action := range []string{"touch", "list-changed"} {
		if _, err := read(t.Context(), p, "test://action/"+action); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]bool{<-watching: true, <-watching: true}
	if !got["test://watched-resource"] || !got[""] {
		t.Errorf("got %v, want the resource and the list", got)
	}
	if len(other) > 0 {
		t.Errorf("another client was told of %q", <-other)
	}
}

func TestAPolledResourceIsReportedWhenItChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for a clock")
	}
	p := open(t, "everything", 0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	changed := make(chan string, 16)
	if _, err := p.Subscribe(ctx, parse("test://clock"), false, resource.NotifierFunc(func(uri string) { changed <- uri })); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := <-changed; got != "test://clock" {
			t.Errorf("got %q", got)
		}
	}
}

func TestAReadNeedsAURI(t *testing.T) {
	p := open(t, "hello", 0)
	if _, err := p.Read(t.Context(), &resource.Request{}, &text{}); abi.CodeOf(err) != abi.CodeInvalidParams {
		t.Errorf("got %v, want invalid_params", err)
	}
}

func TestCloseEndsWatchesAndTellsLaterOnes(t *testing.T) {
	p := open(t, "hello", 0)
	if _, err := p.Subscribe(context.Background(), parse("hello://about"), true, resource.NotifierFunc(func(string) {})); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkRead(b *testing.B) {
	p := open(b, "hello", 0)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := read(b.Context(), p, "greeting://World"); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSpellingsOfOneURI reads, watches and declares resources by URIs that name the same, as RFC 3986 and RFC 8089 say.
func TestSpellingsOfOneURI(t *testing.T) {
	p := openPuppet(t, provider.Config{}, &guesttest.Puppet{
		Manifest: abi.Manifest{
			Ops:       1 << abi.OpRead,
			Resources: []abi.Resource{{URI: "FILE://localhost/Static", Name: "s"}},
			Templates: []abi.Template{{URITemplate: "FILE:///{+path}", Name: "t"}, {URITemplate: "users://{name}", Name: "u"}},
		},
		Next: func(_ context.Context, _ abi.Op, n int, req *abi.Request) guesttest.Step {
			if n > 0 {
				return guesttest.Return(abi.CodeOK)
			}
			return content(req.URI, fmt.Sprint(req.URI, req.Vars))
		},
	})
	for uri, want := range map[string]string{
		"file:///X":               "file:///X[{path X}]",
		"FILE:///X":               "file:///X[{path X}]",
		"File://LocalHost/X":      "file:///X[{path X}]",
		"file://localhost/Static": "FILE://localhost/Static[]",
		"file:///Static":          "FILE://localhost/Static[]",
		"USERS://Ada":             "users://Ada[{name Ada}]",
	} {
		if got, err := read(t.Context(), p, uri); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", uri, got, err, want)
		}
	}
	told := make(chan string, 10)
	accepted, err := p.Subscribe(t.Context(), parse("FILE://localhost/X"), false, resource.NotifierFunc(func(uri string) { told <- uri }))
	if err != nil || len(accepted) != 1 || accepted[0].String() != "FILE://localhost/X" {
		t.Fatalf("got %v, %v", accepted, err)
	}
	for _, uri := range []string{"file:///X", "FILE:///X", "file://LOCALHOST/X"} {
		p.Changed(uri)
		if got := <-told; got != "FILE://localhost/X" {
			t.Errorf("%s changed: told of %s, want the URI that the client used", uri, got)
		}
	}
}
