package composite_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/coalesce"
	"github.com/wasmres/wasmres/runtime/internal/composite"
	"github.com/wasmres/wasmres/runtime/resource"
)

// plain is a source with nothing to settle and no sessions.
type plain struct{ resource.Source }

// A watchable is a fake whose subscribers the test notifies.
type watchable struct {
	mu       sync.Mutex // guards the fields below
	watching []watched
}

type watched struct {
	ctx      context.Context
	uris     []string
	list     bool
	notifier resource.Notifier
}

// changed reports a change, or of one of the list, "".
func (w *watchable) changed(uri string) { resource.Notify(w.last().notifier, uri) }

// merging returns a Notifier whose changes f gets one at a time until ctx ends, merged while f is busy.
func merging(ctx context.Context, f func(uri string)) resource.Notifier {
	s := coalesce.New(nil)
	go s.Drain(ctx, 0, func(uri string) error { f(uri); return nil })
	return resource.NotifierFunc(s.Add)
}

func (w *watchable) watch(ctx context.Context, uris []abi.URI, list bool, n resource.Notifier) ([]abi.URI, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watching = append(w.watching, watched{ctx, texts(uris), list, n})
	return uris, nil
}

// last returns the watch that began last, or nothing.
func (w *watchable) last() watched {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.watching) == 0 {
		return watched{}
	}
	return w.watching[len(w.watching)-1]
}

func TestEachMemberGetsSubscriptionsToItsOwnURIs(t *testing.T) {
	for name, tt := range map[string]struct {
		uris []string
		list bool
		want [3][]string // for each member; nil when it is not asked
		got  []string
	}{
		"of two":          {[]string{"b:1", "a:1", "z:1", "b:2"}, false, [3][]string{{"a:1"}, {"b:1", "b:2"}, nil}, []string{"b:1", "a:1", "b:2"}},
		"and the list":    {[]string{"a:1"}, true, [3][]string{{"a:1"}, {}, {}}, []string{"a:1"}},
		"the list alone":  {nil, true, [3][]string{{}, {}, {}}, nil},
		"nothing":         {nil, false, [3][]string{}, nil},
		"what is nobodys": {[]string{"z:1"}, false, [3][]string{}, nil},
		"one twice":       {[]string{"a:1", "a:1"}, false, [3][]string{{"a:1", "a:1"}, nil, nil}, []string{"a:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			sources := fakes(1, 1, 1)
			var asked [3]watchable
			for i, f := range sources {
				f.watch = asked[i].watch
			}
			s := compose(t, composite.Config{Members: members(sources)})
			got, err := s.Subscribe(t.Context(), parse(tt.uris...), tt.list, resource.NotifierFunc(func(string) {}))
			if err != nil || !slices.Equal(texts(got), tt.got) {
				t.Errorf("got %v, %v, want %v", got, err, tt.got)
			}
			for i := range asked {
				w := asked[i].last()
				if (w.notifier != nil) != (tt.want[i] != nil) || !slices.Equal(w.uris, tt.want[i]) || w.list != (tt.list && w.notifier != nil) {
					t.Errorf("%s was asked to watch %v, list %v, want %v, %v", sources[i].name, w.uris, w.list, tt.want[i], tt.list)
				}
			}
		})
	}
}

func TestASubscriptionGoesOnWithoutAMemberThatFails(t *testing.T) {
	hang := func(ctx context.Context, _ []abi.URI, _ bool, _ resource.Notifier) ([]abi.URI, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	fail := func(context.Context, []abi.URI, bool, resource.Notifier) ([]abi.URI, error) { return nil, errBroken }
	type watch = func(context.Context, []abi.URI, bool, resource.Notifier) ([]abi.URI, error)
	for name, tt := range map[string]struct {
		watches [2]watch
		got     []string
		code    abi.Code
	}{
		"one fails":      {[2]watch{fail, nil}, []string{"b:1"}, abi.CodeOK},
		"one hangs":      {[2]watch{nil, hang}, []string{"a:1"}, abi.CodeOK},
		"all fail":       {[2]watch{fail, hang}, nil, abi.CodeInternal},
		"all hang":       {[2]watch{hang, hang}, nil, abi.CodeDeadline},
		"none does":      {[2]watch{nil, nil}, []string{"a:1", "b:1"}, abi.CodeOK},
		"one takes none": {[2]watch{func(context.Context, []abi.URI, bool, resource.Notifier) ([]abi.URI, error) { return nil, nil }, nil}, []string{"b:1"}, abi.CodeOK},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sources := fakes(1, 1)
				for i, f := range sources {
					f.watch = tt.watches[i]
				}
				s := compose(t, composite.Config{Members: members(sources)})
				begin := time.Now()
				got, err := s.Subscribe(t.Context(), parse("a:1", "b:1"), true, resource.NotifierFunc(func(string) {}))
				wantCode(t, "watch", err, tt.code)
				if !slices.Equal(texts(got), tt.got) || time.Since(begin) > 2*time.Second {
					t.Errorf("got %v after %v, want %v after 2 s at most", got, time.Since(begin), tt.got)
				}
			})
		})
	}
}

// A subscription that begins too late ends at once.
func TestALateSubscriptionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late watchable
		sources := fakes(1, 1)
		sources[0].watch = func(ctx context.Context, uris []abi.URI, list bool, n resource.Notifier) ([]abi.URI, error) {
			time.Sleep(time.Hour) // the fake clock's
			return late.watch(ctx, uris, list, n)
		}
		s := compose(t, composite.Config{Members: members(sources)})
		if got, err := s.Subscribe(t.Context(), parse("a:1", "b:1"), false, resource.NotifierFunc(func(string) {})); err != nil || !slices.Equal(texts(got), []string{"b:1"}) {
			t.Errorf("got %v, %v", got, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if w := late.last(); w.ctx == nil || w.ctx.Err() == nil {
			t.Error("the late watch goes on")
		}
	})
}

func TestChangesOfAllMembersAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sources := fakes(1, 1, 1)
		var asked [3]watchable
		for i, f := range sources {
			f.watch = asked[i].watch
		}
		s := compose(t, composite.Config{Members: members(sources)})
		told := map[string]int{}
		notifier := merging(t.Context(), func(uri string) { told[uri]++ })
		if _, err := s.Subscribe(t.Context(), parse("a:1", "b:1", "c:1"), true, notifier); err != nil {
			t.Fatal(err)
		}
		var changing sync.WaitGroup
		for i := range asked {
			changing.Go(func() {
				for range 1000 {
					asked[i].changed(sources[i].name + ":1")
					asked[i].changed("")
				}
			})
		}
		changing.Wait()
		synctest.Wait()
		for _, uri := range []string{"", "a:1", "b:1", "c:1"} {
			if told[uri] == 0 {
				t.Errorf("no subscriber was told of %q: %v", uri, told)
			}
		}
	})
}

// While a client does not take a change, others are merged, and no member waits for more than that client.
func TestChangesAreMergedWhileASubscriberIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sources := fakes(1, 1)
		var asked [2]watchable
		sources[0].watch, sources[1].watch = asked[0].watch, asked[1].watch
		s := compose(t, composite.Config{Members: members(sources)})
		stalled, told := make(chan struct{}), make(chan string, 100)
		notify := func(uri string) { told <- uri; <-stalled }
		if _, err := s.Subscribe(t.Context(), parse("a:1", "b:1"), false, merging(t.Context(), notify)); err != nil {
			t.Fatal(err)
		}
		asked[0].changed("a:1")
		synctest.Wait()
		for range 50 {
			asked[1].changed("b:1") // does not block
		}
		close(stalled)
		synctest.Wait()
		close(told)
		var got []string
		for uri := range told {
			got = append(got, uri)
		}
		if !slices.Equal(got, []string{"a:1", "b:1"}) {
			t.Errorf("got %v, want each once", got)
		}
	})
}

func TestACancelledSubscriptionIsNotAFailure(t *testing.T) {
	sources := fakes(1)
	s := compose(t, composite.Config{Members: members(sources)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Subscribe(ctx, parse("a:1"), true, resource.NotifierFunc(func(string) {}))
	wantCode(t, "watch", err, abi.CodeCancelled)
}
