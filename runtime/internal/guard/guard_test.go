package guard_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/guard"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// as gives a context of a client who may see these URIs.
func as(t *testing.T, patterns ...string) context.Context {
	t.Helper()
	var uris []auth.Pattern
	for _, p := range patterns {
		one, err := auth.ParsePattern(p)
		if err != nil {
			t.Fatal(err)
		}
		uris = append(uris, one)
	}
	i := auth.NewIdentity(t.Context(), abi.Principal{Subject: "ada"}, auth.FullAccess(uris...), time.Time{})
	return auth.WithCaller(t.Context(), &auth.Caller{Identity: i})
}

// A source that records what it is asked, and has answers that caches may share.
type recording struct {
	*mcptest.Source
	requests []*resource.Request
	complete []string
	degraded resource.Degraded // that each list notes; zero for none
}

func (r *recording) List(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	r.requests = append(r.requests, req)
	if r.degraded.Provider != "" {
		resource.Degrade(ctx, r.degraded)
	}
	return r.Source.List(ctx, req)
}

func (r *recording) Read(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	r.requests = append(r.requests, req)
	return r.Source.Read(ctx, req, sink)
}

func (r *recording) Templates(context.Context, *resource.Request) (*abi.Reply, error) {
	return &abi.Reply{Templates: []abi.Template{
		{URITemplate: "notes://{folder}/{name}"}, {URITemplate: "notes://drafts/{name}"}, {URITemplate: "other://{x}"},
	}}, nil
}

func (r *recording) Complete(_ context.Context, req *resource.Request) (*abi.Reply, error) {
	r.requests = append(r.requests, req)
	return &abi.Reply{Completions: slices.Clone(r.complete), CompletionTotal: 99, CompletionMore: true}, nil
}

func newSource() *recording {
	s := mcptest.New()
	s.CacheScope, s.TTLMillis = abi.CachePublic, 1000
	for _, uri := range []string{"notes://drafts/1", "notes://drafts/2", "notes://secret/1", "notes://café"} {
		s.Text(uri, "text of "+uri)
	}
	return &recording{Source: s}
}

// A sink keeps what it gets.
type sink struct{ contents, text []string }

func (s *sink) Content(c *abi.Content) error { s.contents = append(s.contents, c.URI); return nil }
func (s *sink) Body(p []byte) error          { s.text = append(s.text, string(p)); return nil }
func (s *sink) Progress(abi.Progress)        {}

func read(t *testing.T, g *guard.Source, ctx context.Context, uri string) (string, error) {
	t.Helper()
	var got sink
	reply, err := g.Read(ctx, &resource.Request{URI: abi.MustParseURI(uri)}, &got)
	if err == nil && reply.CacheScope != abi.CachePrivate {
		t.Errorf("%s: a cache may share the answer", uri)
	}
	return strings.Join(got.text, ""), err
}

func TestReads(t *testing.T) {
	s := newSource()
	g := guard.New(s)
	drafts := as(t, "notes://drafts/**", "notes://caf%C3%A9")
	for uri, want := range map[string]string{
		"notes://drafts/1": "text of notes://drafts/1", "notes://café": "text of notes://café",
		"notes://secret/1": "", "notes://drafts": "", "notes://none": "", "notes://drafts/none": "",
	} {
		got, err := read(t, g, drafts, uri)
		if want == "" {
			if abi.CodeOf(err) != abi.CodeNotFound || err.(*abi.Error).Message != "" {
				t.Errorf("%s: got %q, %#v", uri, got, err)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("%s: got %q, %v", uri, got, err)
		}
	}
	for _, req := range s.requests {
		if req.Principal == nil || req.Principal.Subject != "ada" || strings.Contains(req.URI.String(), "secret") {
			t.Errorf("the source was asked for %v by %v", req.URI, req.Principal)
		}
	}
	if got, err := read(t, g, as(t, "**"), "notes://secret/1"); err != nil || got == "" {
		t.Errorf("a client who may see everything got %q, %v", got, err)
	}
	if _, err := read(t, g, t.Context(), "notes://drafts/1"); abi.CodeOf(err) != abi.CodeDenied {
		t.Errorf("without an identity: got %v", err)
	}
}

// Of a read with several contents, as of a directory, a client gets those it may see.
func TestContentsAreFiltered(t *testing.T) {
	s := newSource()
	s.Handle(abi.Resource{URI: "notes://all", Name: "all"}, func(_ context.Context, _ *resource.Request, to abi.Sink) (*abi.Reply, error) {
		for _, uri := range []string{"notes://secret/1", "notes://drafts/1", "notes://secret/2"} {
			if err := mcptest.Send(to, &abi.Content{URI: uri, Kind: abi.KindText}, []byte(uri)); err != nil {
				return nil, err
			}
		}
		return &abi.Reply{}, nil
	})
	g := guard.New(s)
	if got, err := read(t, g, as(t, "notes://all", "notes://drafts/**"), "notes://all"); err != nil || got != "notes://drafts/1" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := read(t, g, as(t, "notes://all"), "notes://all"); abi.CodeOf(err) != abi.CodeNotFound {
		t.Errorf("without any content: %q, %v", got, err)
	}
}

func TestLists(t *testing.T) {
	s := newSource()
	for i := range 5 {
		s.Text(fmt.Sprintf("a://%d", i), "")
	}
	s.PageSize = 2
	g := guard.New(s)
	for _, c := range []struct {
		patterns []string
		want     string
	}{
		{[]string{"notes://drafts/**"}, "notes://drafts/1 notes://drafts/2"},
		{[]string{"a://3", "notes://secret"}, "a://3 notes://secret/1"},
		{[]string{"none:**"}, ""},
		{[]string{"x", "**"}, "a://0 a://1 a://2 a://3 a://4 notes://café notes://drafts/1 notes://drafts/2 notes://secret/1"},
	} {
		var got []string
		req, pages := &resource.Request{}, 0
		for {
			reply, err := g.List(as(t, c.patterns...), req)
			if err != nil {
				t.Fatal(err)
			}
			if len(reply.Resources) == 0 && c.want != "" && reply.NextCursor != "" {
				t.Errorf("%v: an empty page", c.patterns)
			}
			if reply.CacheScope != abi.CachePrivate {
				t.Errorf("%v: a cache may share the page", c.patterns)
			}
			for _, r := range reply.Resources {
				got = append(got, r.URI)
			}
			if pages++; reply.NextCursor == "" || pages > 20 {
				break
			}
			req.Cursor = reply.NextCursor
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%v: got %s, want %s", c.patterns, text, c.want)
		}
	}
	if _, err := g.List(t.Context(), &resource.Request{}); abi.CodeOf(err) != abi.CodeDenied {
		t.Errorf("without an identity: got %v", err)
	}
	if _, ok := any(g).(resource.Versioned); ok {
		t.Error("the core would cache pages for all clients")
	}
}

// A client with few of many pages gets an empty page rather than one that takes for ever.
func TestAPageIsMadeOfFewPages(t *testing.T) {
	s := newSource()
	for i := range 100 {
		s.Text(fmt.Sprintf("a://%02d", i), "")
	}
	s.PageSize, s.degraded = 1, resource.Degraded{Provider: "p", Code: abi.CodeTrap}
	var missing []resource.Degraded
	ctx := resource.WithDegraded(as(t, "notes://secret"), &missing)
	reply, err := guard.New(s).List(ctx, &resource.Request{})
	if err != nil || len(reply.Resources) != 0 || reply.NextCursor == "" || len(s.requests) > 8 {
		t.Errorf("got %v, %v after %d pages", reply, err, len(s.requests))
	}
	if len(missing) != 1 || missing[0] != s.degraded {
		t.Errorf("missing are %v", missing)
	}
}

func TestTemplatesAndCompletions(t *testing.T) {
	s := newSource()
	g := guard.New(s)
	ctx := as(t, "notes://drafts/a*", "notes://x%2Fy/1")
	reply, err := g.Templates(ctx, &resource.Request{})
	if err != nil || len(reply.Templates) != 2 {
		t.Errorf("got %v, %v", reply, err)
	}
	if _, err := g.Templates(t.Context(), &resource.Request{}); abi.CodeOf(err) != abi.CodeDenied {
		t.Errorf("without an identity: got %v", err)
	}
	for _, c := range []struct {
		template, arg string
		vars          []abi.Var
		complete      string
		want          string
	}{
		{"notes://drafts/{name}", "name", nil, "a ab b", "a ab"},
		{"notes://drafts{/name}", "name", nil, "a ab b", "a ab"},
		{"notes://{+path}", "path", nil, "drafts/a drafts/b secret/a", "drafts/a"},
		{"notes://{path}", "path", nil, "drafts/a", ""}, // the slash is escaped
		{"notes://{folder}/{name}", "folder", nil, "drafts secret draft x/y", "drafts x/y"},
		{"notes://{folder}/{name}", "name", []abi.Var{{Name: "folder", Value: "drafts"}}, "a b", "a"},
		{"notes://{folder}/{name}", "name", []abi.Var{{Name: "folder", Value: "secret"}}, "a b", ""},
		{"notes://{folder}/{name}", "name", nil, "a b", "a b"},
		{"notes://drafts/{name:3}", "name", nil, "a b", "a b"},
		{"notes://drafts/{name", "name", nil, "a b", "a b"},
	} {
		s.complete = strings.Fields(c.complete)
		reply, err := g.Complete(ctx, &resource.Request{Template: c.template, Arg: c.arg, Vars: c.vars})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(reply.Completions, " "); got != c.want || reply.CompletionTotal != 0 {
			t.Errorf("%s, %s: got %q of %d, want %q", c.template, c.arg, got, reply.CompletionTotal, c.want)
		}
	}
	if _, err := g.Complete(ctx, &resource.Request{Template: "other://{x}", Arg: "x"}); abi.CodeOf(err) != abi.CodeInvalidParams {
		t.Errorf("a hidden template: %v", err)
	}
	if _, err := g.Complete(t.Context(), &resource.Request{Template: "notes://{x}", Arg: "x"}); abi.CodeOf(err) != abi.CodeDenied {
		t.Errorf("without an identity: got %v", err)
	}
}

func TestSubscriptions(t *testing.T) {
	s := newSource()
	g := guard.New(s)
	identity, end := context.WithCancel(t.Context())
	drafts, err := auth.ParsePattern("notes://drafts/**")
	if err != nil {
		t.Fatal(err)
	}
	i := auth.NewIdentity(identity, abi.Principal{Subject: "ada"}, auth.FullAccess(drafts), time.Time{})
	ctx := auth.WithCaller(t.Context(), &auth.Caller{Identity: i})
	told := make(chan string, 10)
	notify := resource.NotifierFunc(func(uri string) { told <- uri })
	uris := []abi.URI{abi.MustParseURI("notes://drafts/1"), abi.MustParseURI("notes://secret/1")}
	accepted, err := g.Subscribe(ctx, uris, false, notify)
	if err != nil || len(accepted) != 1 || accepted[0] != uris[0] {
		t.Fatalf("got %v, %v", accepted, err)
	}
	s.Text("notes://secret/1", "new")
	s.Text("notes://drafts/1", "new")
	if got := <-told; got != "notes://drafts/1" {
		t.Errorf("told of %s", got)
	}
	if accepted, err := g.Subscribe(ctx, uris[1:], false, notify); err != nil || len(accepted) != 0 || s.Watchers() != 1 {
		t.Errorf("a hidden resource: %v, %v", accepted, err)
	}
	if _, err := g.Subscribe(t.Context(), uris, true, notify); abi.CodeOf(err) != abi.CodeDenied {
		t.Errorf("without an identity: got %v", err)
	}
	end()
	s.AwaitWatchers(0)
}

// may gives a context of a client who has these grants.
func may(t *testing.T, grants ...auth.Grant) context.Context {
	t.Helper()
	i := auth.NewIdentity(t.Context(), abi.Principal{Subject: "ada"}, grants, time.Time{})
	return auth.WithCaller(t.Context(), &auth.Caller{Identity: i})
}

func grant(t *testing.T, a auth.Action, uri string, providers ...string) auth.Grant {
	t.Helper()
	p, err := auth.ParsePattern(uri)
	if err != nil {
		t.Fatal(err)
	}
	return auth.Grant{Actions: a, URIs: []auth.Pattern{p}, Providers: providers}
}

// Each action permits what is done by it, and nothing else. What is not permitted at all costs no call of the source.
func TestActions(t *testing.T) {
	const uri, template = "notes://drafts/1", "notes://drafts/{name}"
	does := map[auth.Action]func(ctx context.Context, g *guard.Source) bool{
		auth.List: func(ctx context.Context, g *guard.Source) bool {
			reply, err := g.List(ctx, &resource.Request{})
			templates, templatesErr := g.Templates(ctx, &resource.Request{})
			if err != nil || templatesErr != nil || (len(reply.Resources) > 0) != (len(templates.Templates) > 0) {
				t.Errorf("lists: %v, %v, %v, %v", reply, err, templates, templatesErr)
			}
			return len(reply.Resources) > 0
		},
		auth.Read: func(ctx context.Context, g *guard.Source) bool {
			text, err := read(t, g, ctx, uri)
			return err == nil && text != ""
		},
		auth.Download: func(ctx context.Context, g *guard.Source) bool {
			_, err := g.Read(ctx, &resource.Request{URI: abi.MustParseURI(uri), Download: true}, new(sink))
			return err == nil
		},
		auth.Complete: func(ctx context.Context, g *guard.Source) bool {
			reply, err := g.Complete(ctx, &resource.Request{Template: template, Arg: "name"})
			return err == nil && len(reply.Completions) > 0
		},
		auth.Watch: func(ctx context.Context, g *guard.Source) bool {
			accepted, err := g.Subscribe(ctx, []abi.URI{abi.MustParseURI(uri)}, false, resource.NotifierFunc(func(string) {}))
			return err == nil && len(accepted) > 0
		},
	}
	for permitted := range does {
		for asked, do := range does {
			s := newSource()
			s.complete = []string{"1"}
			if got := do(may(t, grant(t, permitted, "notes://drafts/**")), guard.New(s)); got != (asked == permitted) {
				t.Errorf("%s, permitted is %s: got %v", asked, permitted, got)
			}
			if calls := len(s.requests) + s.Watchers(); asked != permitted && calls > 0 {
				t.Errorf("%s, permitted is %s: the source got %d calls", asked, permitted, calls)
			}
		}
	}
}

// Of a list that is hidden as a whole there is one page, and no other cursor.
func TestAHiddenListHasOnePage(t *testing.T) {
	g := guard.New(newSource())
	ctx := may(t, grant(t, auth.Read, "**"))
	for name, list := range map[string]func(context.Context, *resource.Request) (*abi.Reply, error){"list": g.List, "templates": g.Templates} {
		reply, err := list(ctx, &resource.Request{})
		if err != nil || reply.NextCursor != "" || reply.CacheScope != abi.CachePrivate {
			t.Errorf("%s: %v, %v", name, reply, err)
		}
		if _, err := list(ctx, &resource.Request{Cursor: "x"}); abi.CodeOf(err) != abi.CodeInvalidParams {
			t.Errorf("%s, a later page: %v", name, err)
		}
	}
}

// An owned source has drafts of the provider drafts, and the rest of the provider rest, which is degraded.
type owned struct{ *recording }

func (owned) Owner(uri abi.URI) (string, bool) { return owner(uri.Normal()), true }

func (owned) TemplateOwner(template string) (string, bool) { return owner(template), true }

func owner(uri string) string {
	if strings.HasPrefix(uri, "notes://drafts/") {
		return "drafts"
	}
	return "rest"
}

// A grant for one provider permits the URIs that belong to it, and nothing says that the others exist.
func TestGrantsForProviders(t *testing.T) {
	s := newSource()
	s.complete, s.degraded = []string{"1"}, resource.Degraded{Provider: "rest", Code: abi.CodeTrap}
	g := guard.New(owned{s})
	for provider, want := range map[string]string{"drafts": "notes://drafts/1 notes://drafts/2", "rest": "notes://café notes://secret/1", "": ""} {
		ctx := may(t, grant(t, auth.AllActions, "notes://**", cmp.Or(provider, "none")))
		var missing []resource.Degraded
		reply, err := g.List(resource.WithDegraded(ctx, &missing), &resource.Request{})
		var got []string
		for i := range reply.Resources {
			got = append(got, reply.Resources[i].URI)
		}
		if text := strings.Join(got, " "); err != nil || text != want {
			t.Errorf("%q lists %s, %v", provider, text, err)
		}
		if (len(missing) > 0) != (provider == "rest") {
			t.Errorf("%q: missing are %v", provider, missing)
		}
		for _, uri := range []string{"notes://drafts/1", "notes://secret/1"} {
			if _, err := read(t, g, ctx, uri); (err == nil) != strings.Contains(want, uri) {
				t.Errorf("%q reads %s: %v", provider, uri, err)
			}
			accepted, err := g.Subscribe(ctx, []abi.URI{abi.MustParseURI(uri)}, false, resource.NotifierFunc(func(string) {}))
			if err != nil || (len(accepted) > 0) != strings.Contains(want, uri) {
				t.Errorf("%q watches %s: %v, %v", provider, uri, accepted, err)
			}
		}
		_, err = g.Complete(ctx, &resource.Request{Template: "notes://drafts/{name}", Arg: "name"})
		if (err == nil) != (provider == "drafts") {
			t.Errorf("%q completes: %v", provider, err)
		}
		templates, err := g.Templates(ctx, &resource.Request{})
		if n := map[string]int{"drafts": 1, "rest": 1}[provider]; err != nil || len(templates.Templates) != n {
			t.Errorf("%q: got %v, %v", provider, templates, err)
		}
	}
	if _, err := read(t, guard.New(s), may(t, grant(t, auth.Read, "**", "drafts")), "notes://drafts/1"); abi.CodeOf(err) != abi.CodeNotFound {
		t.Errorf("of a source whose providers are unknown: %v", err)
	}
}
