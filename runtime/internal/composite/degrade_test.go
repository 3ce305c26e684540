package composite_test

import (
	"context"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/composite"
	"github.com/wasmres/wasmres/runtime/resource"
)

// broken is a source whose lists are as wrong as they say.
type broken struct {
	fake
	reply abi.Reply
}

func (b *broken) List(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	if err := b.note(ctx, req); err != nil {
		return nil, err
	}
	reply := b.reply
	return &reply, nil
}

func TestAMemberThatFailsIsLeftOut(t *testing.T) {
	entry := []abi.Resource{{URI: "b:0", Name: "e"}}
	for name, tt := range map[string]struct {
		member *broken
		code   string
		listed int // entries it answered before it failed
	}{
		"fails":                  {&broken{fake: fake{fail: func(context.Context) error { return errBroken }}}, "internal", 0},
		"is unavailable":         {&broken{fake: fake{fail: func(context.Context) error { return abi.Errorf(abi.CodeUnavailable, "gone") }}}, "unavailable", 0},
		"refuses its cursor":     {&broken{fake: fake{fail: func(context.Context) error { return abi.Errorf(abi.CodeInvalidParams, "invalid cursor") }}}, "invalid_params", 0},
		"hangs":                  {&broken{fake: fake{fail: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}}, "deadline", 0},
		"hangs in its own words": {&broken{fake: fake{fail: func(ctx context.Context) error { <-ctx.Done(); return abi.Errorf(abi.CodeFuel, "") }}}, "deadline", 0},
		"panics":                 {&broken{fake: fake{fail: func(context.Context) error { panic("oh") }}}, "internal", 0},
		"does not fail":          {&broken{reply: abi.Reply{Resources: entry}}, "", 1},
		"repeats itself":         {&broken{reply: abi.Reply{Resources: entry, NextCursor: "x"}}, "protocol", 2},
		"has a cursor too long":  {&broken{reply: abi.Reply{Resources: entry, NextCursor: strings.Repeat("x", 5<<10+1)}}, "protocol", 1},
		"goes on with nothing":   {&broken{reply: abi.Reply{NextCursor: "x"}}, "protocol", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sources := fakes(3, 0, 3)
				all3 := members(sources)
				all3[1].Source = tt.member
				said := &recorder{}
				s := compose(t, composite.Config{Members: all3, PageSize: 10})
				want := append(numbered(sources[0], ""), numbered(sources[2], "")...)
				want = slices.Insert(want, 3, slices.Repeat([]string{"b:0"}, tt.listed)...)
				for range 20 { // always alike
					got, _ := all(t, said.hear(s.List), 10)
					if !slices.Equal(got, want) {
						t.Fatalf("got %v, want %v", got, want)
					}
					missing := strings.Join(said.take(), ", ")
					if tt.code == "" && missing != "" || tt.code != "" && missing != "b "+tt.code {
						t.Fatalf("got %q missing, want b with %q", missing, tt.code)
					}
				}
			})
		})
	}
}

func TestAMemberThatWasLeftOutIsNotAskedAgain(t *testing.T) {
	sources := fakes(3, 5, 9)
	sources[1].fail = func(context.Context) error { return errBroken }
	said := &recorder{}
	s := compose(t, composite.Config{Members: members(sources), PageSize: 4})
	req := &resource.Request{}
	for _, want := range []string{"b internal", "", ""} {
		page, err := said.hear(s.List)(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(said.take(), ", "); got != want {
			t.Errorf("got %q missing, want %q", got, want)
		}
		req.Cursor = page.NextCursor
	}
	if n := len(sources[1].requests()); n != 1 || req.Cursor != "" {
		t.Errorf("b was asked %d times, the list goes on with %q", n, req.Cursor)
	}
}

func TestAListOfNothingButFailuresIsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sources := fakes(3, 3)
		sources[0].fail = func(context.Context) error { return errBroken }
		sources[1].fail = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		said := &recorder{}
		s := compose(t, composite.Config{Members: members(sources), MemberTimeout: time.Minute})
		for name, list := range map[string]lister{"resources": said.hear(s.List), "templates": said.hear(s.Templates)} {
			begin := time.Now()
			page, err := list(t.Context(), &resource.Request{})
			if err != nil || len(page.Resources)+len(page.Templates) > 0 || page.NextCursor != "" || page.TTLMillis != 0 || page.CacheScope != abi.CachePrivate {
				t.Errorf("%s: got %+v, %v, want an empty page that is not cached", name, page, err)
			}
			if got := said.take(); !slices.Equal(got, []string{"a internal", "b deadline"}) {
				t.Errorf("%s: got %v missing", name, got)
			}
			if took := time.Since(begin); took != time.Minute {
				t.Errorf("%s took %v, want the timeout of one", name, took)
			}
		}
	})
}

func TestAClientThatLeavesIsNotTheMembersFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sources := fakes(3, 3)
		ctx, cancel := context.WithCancel(t.Context())
		sources[0].fail = func(ctx context.Context) error { cancel(); <-ctx.Done(); return errBroken }
		said := &recorder{}
		s := compose(t, composite.Config{Members: members(sources)})
		_, err := said.hear(s.List)(ctx, &resource.Request{})
		wantCode(t, "list", err, abi.CodeCancelled)
		if got := said.take(); len(got) > 0 || len(sources[1].requests()) > 0 {
			t.Errorf("got %v missing, and b was asked", got)
		}
	})
}

// A member that ignores the end of its context costs a bounded number of goroutines, and Close waits for them.
func TestAMemberThatNeverEndsCostsABoundedNumberOfGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		sources := fakes(3, 3)
		sources[0].fail = func(context.Context) error { <-release; return nil }
		s, err := composite.New(composite.Config{Members: members(sources)})
		if err != nil {
			t.Fatal(err)
		}
		before := goruntime.NumGoroutine()
		for range 5 {
			var lists sync.WaitGroup
			for range 50 {
				lists.Go(func() {
					if page, err := s.List(t.Context(), &resource.Request{}); err != nil || len(page.Resources) != 3 {
						t.Errorf("got %v, %v, want the entries of b", page, err)
					}
				})
			}
			lists.Wait()
		}
		synctest.Wait()  // those that have done their part are gone
		const others = 4 // goroutines that Go's runtime may have started meanwhile
		if n := goruntime.NumGoroutine() - before; n > 64+others {
			t.Errorf("%d goroutines are left of 250 lists", n)
		}
		closed := make(chan struct{})
		go func() { s.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("closed while calls were under way")
		default:
		}
		close(release)
		<-closed
	})
}

func TestAClosedSourceAsksNoMember(t *testing.T) {
	sources := fakes(3)
	said := &recorder{}
	s := compose(t, composite.Config{Members: members(sources)})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if page, err := said.hear(s.List)(t.Context(), &resource.Request{}); err != nil || len(page.Resources) > 0 || !slices.Equal(said.take(), []string{"a unavailable"}) {
		t.Errorf("got %v, %v", page, err)
	}
	_, err := s.Subscribe(t.Context(), nil, true, resource.NotifierFunc(func(string) {}))
	wantCode(t, "watch", err, abi.CodeUnavailable)
	if asked := sources[0].requests(); len(asked) > 0 {
		t.Errorf("a was asked %v", asked)
	}
}
