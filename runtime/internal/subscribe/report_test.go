package subscribe_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/coalesce"
	"github.com/wasmres/wasmres/runtime/internal/subscribe"
	"github.com/wasmres/wasmres/runtime/resource"
)

// newBroker makes a Broker over a guest that reports changes by itself. The end of the test closes it.
func newBroker(t *testing.T) *subscribe.Broker {
	b := subscribe.New(subscribe.Config{
		Call: func(context.Context, abi.Op, string, string, abi.Sink) (*abi.Reply, error) {
			return &abi.Reply{}, nil
		},
		Implements: func(abi.Op) bool { return false }, OnChange: func(string) {}, MaxCalls: 1,
		Logger: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(b.Close)
	return b
}

// received returns what a Set has received.
func received(s *coalesce.Set) (keys []string) {
	for key, ok := s.Take(); ok; key, ok = s.Take() {
		keys = append(keys, key)
	}
	return keys
}

func TestEachSubscriberReceivesItsChangesOldestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		all, one, list := coalesce.New(nil), coalesce.New(nil), coalesce.New(nil)
		for _, s := range []struct {
			set  *coalesce.Set
			uris []string
			list bool
		}{{all, []string{"x:a", "x:ü", "x:c"}, true}, {one, []string{"x:%C3%BC"}, false}, {list, nil, true}} {
			accepted, err := b.Subscribe(t.Context(), parse(s.uris...), s.list, resource.NotifierFunc(s.set.Add))
			if err != nil || !slices.Equal(texts(accepted), s.uris) {
				t.Fatalf("accepted %q, %v", accepted, err)
			}
		}
		for _, uri := range []string{"x:c", "x:z", "x:%c3%bc", "", "x:c", "x:a", "x:ü"} {
			b.Publish(t.Context(), uri)
		}
		synctest.Wait()
		for name, tt := range map[string]struct {
			got  *coalesce.Set
			want []string
		}{
			"of all":      {all, []string{"x:c", "x:ü", "", "x:a"}},
			"of one":      {one, []string{"x:%C3%BC"}},
			"of the list": {list, []string{""}},
		} {
			if got := received(tt.got); !slices.Equal(got, tt.want) {
				t.Errorf("the subscriber %s received %q, want %q", name, got, tt.want)
			}
		}
	})
}

func TestURIsAreAcceptedOnce(t *testing.T) {
	b := newBroker(t)
	uris := append(parse("x:ü", "x:a", "x:%C3%BC", "x:a"), abi.URI{})
	accepted, err := b.Subscribe(t.Context(), uris, false, resource.NotifierFunc(func(string) {}))
	if want := []string{"x:ü", "x:a"}; err != nil || !slices.Equal(texts(accepted), want) {
		t.Errorf("accepted %q, %v, want %q", accepted, err, want)
	}
}

// TestNoChangeIsLost has subscribers come and go while everything changes all the time. Each, once subscribed, receives
// the change that comes next.
func TestNoChangeIsLost(t *testing.T) {
	b := newBroker(t)
	var stop atomic.Bool
	var changing, subscribing sync.WaitGroup
	for i := range 3 {
		changing.Go(func() {
			for !stop.Load() {
				b.Publish(t.Context(), fmt.Sprint("x:", i))
			}
		})
	}
	for i := range 8 {
		subscribing.Go(func() {
			for n := range 200 {
				mine := fmt.Sprintf("x:%d-%d", i, n) // which changes once
				ctx, leave := context.WithCancel(t.Context())
				changes := coalesce.New(nil)
				if _, err := b.Subscribe(ctx, parse("x:0", "x:1", mine), n%2 == 0, resource.NotifierFunc(changes.Add)); err != nil {
					t.Error(err)
				}
				b.Publish(ctx, mine)
				for got := ""; got != mine; {
					if got, _ = changes.Take(); got == "" {
						<-changes.C
					}
				}
				leave()
			}
		})
	}
	subscribing.Wait()
	stop.Store(true)
	changing.Wait()
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
