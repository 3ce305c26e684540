package composite_test

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/composite"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A fake is a source with as many resources as it says, NAME:0 and so on, which it makes when it is asked.
type fake struct {
	name     string
	entries  int
	pageSize int // it keeps to, whatever is asked for; 0 keeps to what is asked for
	ttl      uint64
	scope    abi.CacheScope

	fail  func(ctx context.Context) error // of every call; nil for none
	watch func(ctx context.Context, uris []abi.URI, list bool, n resource.Notifier) ([]abi.URI, error)

	mu      sync.Mutex // guards the fields below
	asked   []resource.Request
	settled int
	ended   []string
}

func (f *fake) note(ctx context.Context, req *resource.Request) error {
	f.mu.Lock()
	f.asked = append(f.asked, *req)
	f.mu.Unlock()
	if f.fail != nil {
		return f.fail(ctx)
	}
	return nil
}

// requests returns what the fake was asked since the last time.
func (f *fake) requests() []resource.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.asked
	f.asked = nil
	return asked
}

func (f *fake) page(req *resource.Request, add func(*abi.Reply, int)) (*abi.Reply, error) {
	begin, err := strconv.Atoi("0" + req.Cursor)
	if err != nil || begin > f.entries {
		return nil, abi.Errorf(abi.CodeInvalidParams, "invalid cursor")
	}
	end := min(begin+int(req.Limit), f.entries)
	if f.pageSize > 0 {
		end = min(begin+f.pageSize, f.entries)
	}
	reply := &abi.Reply{TTLMillis: f.ttl, CacheScope: f.scope}
	for i := begin; i < end; i++ {
		add(reply, i)
	}
	if end < f.entries {
		reply.NextCursor = strconv.Itoa(end)
	}
	return reply, nil
}

func (f *fake) uri(i int) string { return f.name + ":" + strconv.Itoa(i) }

func (f *fake) List(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	if err := f.note(ctx, req); err != nil {
		return nil, err
	}
	return f.page(req, func(reply *abi.Reply, i int) {
		reply.Resources = append(reply.Resources, abi.Resource{URI: f.uri(i), Name: "e", Priority: math.NaN()})
	})
}

func (f *fake) Templates(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	if err := f.note(ctx, req); err != nil {
		return nil, err
	}
	return f.page(req, func(reply *abi.Reply, i int) {
		reply.Templates = append(reply.Templates, abi.Template{URITemplate: f.uri(i) + "/{x}", Name: "t", Priority: math.NaN()})
	})
}

func (f *fake) Read(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	if err := f.note(ctx, req); err != nil {
		return nil, err
	}
	err := sink.Content(&abi.Content{URI: req.URI.String(), Kind: abi.KindText})
	if err == nil {
		err = sink.Body([]byte(f.name))
	}
	return &abi.Reply{TTLMillis: f.ttl, CacheScope: f.scope}, err
}

func (f *fake) Complete(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	if err := f.note(ctx, req); err != nil {
		return nil, err
	}
	return &abi.Reply{Completions: []string{f.name}}, nil
}

func (f *fake) Subscribe(ctx context.Context, uris []abi.URI, list bool, n resource.Notifier) ([]abi.URI, error) {
	if f.watch == nil {
		return uris, nil
	}
	return f.watch(ctx, uris, list, n)
}

func (f *fake) AfterResponse() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settled++
}

func (f *fake) EndSession(session string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = append(f.ended, session)
}

// fakes makes sources called a, b, c and so on, with as many entries.
func fakes(entries ...int) []*fake {
	var list []*fake
	for i, n := range entries {
		list = append(list, &fake{name: string(rune('a' + i)), entries: n, ttl: 1000, scope: abi.CachePublic})
	}
	return list
}

// members makes members of fakes, each with the scheme of its name.
func members(list []*fake) []composite.Member {
	var all []composite.Member
	for _, f := range list {
		all = append(all, composite.Member{Name: f.name, Source: f, Claims: composite.Claims{Prefixes: []string{f.name + ":"}}})
	}
	return all
}

// compose makes a source of cfg. The end of the test closes it.
func compose(t testing.TB, cfg composite.Config) *composite.Source {
	t.Helper()
	s, err := composite.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A recorder keeps what a page says is missing.
type recorder struct {
	mu      sync.Mutex // guards the field below
	missing []string
}

// hear returns list, whose pages are heard.
func (r *recorder) hear(list lister) lister {
	return func(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
		var missing []resource.Degraded
		reply, err := list(resource.WithDegraded(ctx, &missing), req)
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, m := range missing {
			r.missing = append(r.missing, m.Provider+" "+m.Code.String())
		}
		return reply, err
	}
}

func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	missing := r.missing
	r.missing = nil
	return missing
}

// lister is List or Templates.
type lister func(context.Context, *resource.Request) (*abi.Reply, error)

// all lists everything, a page at a time, and holds each page to its size.
func all(t testing.TB, list lister, pageSize int) (uris []string, pages int) {
	t.Helper()
	req := &resource.Request{}
	for {
		page, err := list(t.Context(), req)
		if err != nil {
			t.Fatalf("page %d: %v", pages, err)
		}
		pages++
		if n := len(page.Resources) + len(page.Templates); n > pageSize {
			t.Fatalf("page %d has %d entries, want at most %d", pages, n, pageSize)
		}
		for _, r := range page.Resources {
			uris = append(uris, r.URI)
		}
		for _, r := range page.Templates {
			uris = append(uris, r.URITemplate)
		}
		if page.NextCursor == "" {
			return uris, pages
		}
		req = &resource.Request{Cursor: page.NextCursor}
	}
}

func numbered(f *fake, suffix string) (uris []string) {
	for i := range f.entries {
		uris = append(uris, f.uri(i)+suffix)
	}
	return uris
}

type text struct{ body string }

func (s *text) Content(*abi.Content) error { return nil }
func (s *text) Body(p []byte) error        { s.body += string(p); return nil }
func (s *text) Progress(abi.Progress)      {}

func read(ctx context.Context, s *composite.Source, uri string) (string, error) {
	parsed, err := abi.ParseURI(uri)
	if err != nil {
		return "", err
	}
	var got text
	_, err = s.Read(ctx, &resource.Request{URI: parsed}, &got)
	return got.body, err
}

func wantCode(t *testing.T, what string, err error, want abi.Code) {
	t.Helper()
	if got := abi.CodeOf(err); got != want {
		t.Errorf("%s: got %v (%v), want %v", what, got, err, want)
	}
}

var errBroken = fmt.Errorf("broken")

// parse returns URIs that are valid.
func parse(uris ...string) (parsed []abi.URI) {
	for _, uri := range uris {
		parsed = append(parsed, abi.MustParseURI(uri))
	}
	return parsed
}

// texts returns URIs as they were given.
func texts(uris []abi.URI) (list []string) {
	for _, uri := range uris {
		list = append(list, uri.String())
	}
	return list
}
