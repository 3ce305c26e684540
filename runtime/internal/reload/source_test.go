package reload_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/coalesce"
	"github.com/wasmres/wasmres/runtime/internal/reload"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A fake is a generation that answers with its name. It fails the test when it is used once it is closed, or closed
// while it is used or twice.
type fake struct {
	t    testing.TB
	name string
	// called is called in every call; nil for nothing.
	called func(ctx context.Context)
	refuse func(uri string) bool // what cannot be watched; nil for nothing
	fail   error                 // of Subscribe
	mark   func(uri abi.URI) any // nil for unknown

	using   atomic.Int64
	closed  atomic.Int64
	version atomic.Uint64

	mu       sync.Mutex // guards the field below
	watching map[*fakeWatch]bool
}

type fakeWatch struct {
	ctx  context.Context
	uris []string
	list bool
	n    resource.Notifier
}

func newFake(t testing.TB, name string) *fake {
	return &fake{t: t, name: name, watching: map[*fakeWatch]bool{}}
}

func (f *fake) use(ctx context.Context) func() {
	f.using.Add(1)
	if f.closed.Load() > 0 {
		f.t.Errorf("%s is used after it was closed", f.name)
	}
	if f.called != nil {
		f.called(ctx)
	}
	return func() {
		if f.closed.Load() > 0 {
			f.t.Errorf("%s was closed while it was used", f.name)
		}
		f.using.Add(-1)
	}
}

func (f *fake) List(ctx context.Context, _ *resource.Request) (*abi.Reply, error) {
	defer f.use(ctx)()
	return &abi.Reply{
		Resources: []abi.Resource{{URI: f.name, Name: f.name}}, TTLMillis: 60_000, CacheScope: abi.CachePublic,
	}, nil
}

func (f *fake) Templates(ctx context.Context, _ *resource.Request) (*abi.Reply, error) {
	defer f.use(ctx)()
	return &abi.Reply{Templates: []abi.Template{{URITemplate: f.name}}}, nil
}

func (f *fake) Read(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	defer f.use(ctx)()
	if err := sink.Content(&abi.Content{URI: req.URI.String(), Kind: abi.KindText}); err != nil {
		return nil, err
	}
	return &abi.Reply{}, sink.Body([]byte(f.name))
}

func (f *fake) Complete(ctx context.Context, _ *resource.Request) (*abi.Reply, error) {
	defer f.use(ctx)()
	return &abi.Reply{Completions: []string{f.name}}, nil
}

func (f *fake) Subscribe(ctx context.Context, uris []abi.URI, list bool, n resource.Notifier) (accepted []abi.URI, err error) {
	defer f.use(ctx)()
	if f.fail != nil {
		return nil, f.fail
	}
	for _, uri := range uris {
		if f.refuse == nil || !f.refuse(uri.String()) {
			accepted = append(accepted, uri)
		}
	}
	w := &fakeWatch{ctx, texts(accepted), list, n}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watching[w] = true
	context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.watching, w)
	})
	return accepted, ctx.Err()
}

// watches returns what is watched now.
func (f *fake) watches() (list []*fakeWatch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for w := range f.watching {
		list = append(list, w)
	}
	return list
}

func (f *fake) Mark(_ context.Context, uri abi.URI) any {
	defer f.use(context.Background())()
	if f.mark == nil {
		return nil
	}
	return f.mark(uri)
}

func (f *fake) AfterResponse()      { f.use(context.Background())() }
func (f *fake) EndSession(string)   { f.use(context.Background())() }
func (f *fake) ListVersion() uint64 { return f.version.Load() }

func (f *fake) Close() error {
	if n := f.using.Load(); n != 0 {
		f.t.Errorf("%s is closed while %d use it", f.name, n)
	}
	if f.closed.Add(1) != 1 {
		f.t.Errorf("%s is closed twice", f.name)
	}
	return nil
}

// isClosed fails the test unless f is closed, or not.
func (f *fake) isClosed(t *testing.T, want bool) {
	t.Helper()
	if got := f.closed.Load() == 1; got != want {
		t.Errorf("%s is closed: %v, want %v", f.name, got, want)
	}
}

// newSource makes a source that the end of the test closes.
func newSource(t *testing.T, first ...*fake) *reload.Source {
	t.Helper()
	s := reload.New(reload.Config{Empty: "nothing yet"})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, f := range first {
		replace(t, s, f)
	}
	return s
}

func replace(t *testing.T, s *reload.Source, f *fake) {
	t.Helper()
	if err := s.Replace(f); err != nil {
		t.Error(err)
	}
}

type text struct{ body string }

func (s *text) Content(*abi.Content) error { return nil }
func (s *text) Body(p []byte) error        { s.body += string(p); return nil }
func (s *text) Progress(abi.Progress)      {}

// answers asks in each way there is, and gives the answers.
func answers(ctx context.Context, s *reload.Source) ([]string, error) {
	list, err := s.List(ctx, &resource.Request{})
	if err != nil {
		return nil, err
	}
	templates, err := s.Templates(ctx, &resource.Request{})
	if err != nil {
		return nil, err
	}
	var read text
	if _, err := s.Read(ctx, &resource.Request{URI: abi.MustParseURI("a:1")}, &read); err != nil {
		return nil, err
	}
	completed, err := s.Complete(ctx, &resource.Request{})
	if err != nil {
		return nil, err
	}
	s.AfterResponse()
	s.EndSession("one")
	return []string{list.Resources[0].URI, templates.Templates[0].URITemplate, read.body, completed.Completions[0]}, nil
}

// merging returns a Notifier whose changes f gets one at a time until ctx ends, merged while f is busy.
func merging(ctx context.Context, f func(uri string)) resource.Notifier {
	s := coalesce.New(nil)
	go s.Drain(ctx, 0, func(uri string) error { f(uri); return nil })
	return resource.NotifierFunc(s.Add)
}

// A heard is what a subscriber received. It fails the test when it is told two things at once.
type heard struct {
	t    testing.TB
	busy atomic.Bool

	mu   sync.Mutex // guards the field below
	uris []string
}

func (h *heard) notify(uri string) {
	if !h.busy.CompareAndSwap(false, true) {
		h.t.Error("two notifications at once")
	}
	h.mu.Lock()
	h.uris = append(h.uris, uri)
	h.mu.Unlock()
	h.busy.Store(false)
}

// take returns what was told since the last time.
func (h *heard) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	uris := h.uris
	h.uris = nil
	return uris
}

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
