package reload_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// wants fails the test unless h was told of these, in any order.
func (h *heard) wants(t *testing.T, when string, want ...string) {
	t.Helper()
	synctest.Wait()
	got := h.take()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s: told of %q, want %q", when, got, want)
	}
}

func TestSubscriptionsMoveToTheNextGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newFake(t, "a"), newFake(t, "b")
		s := newSource(t, a)
		h := &heard{t: t}
		ctx, leave := context.WithCancel(t.Context())
		watched, err := s.Subscribe(ctx, parse("a:1", "b:1"), true, merging(ctx, h.notify))
		if err != nil || !slices.Equal(texts(watched), []string{"a:1", "b:1"}) {
			t.Fatalf("got %q, %v", watched, err)
		}
		h.wants(t, "at first")
		a.tellAll()
		h.wants(t, "of the first", "", "a:1", "b:1")

		replace(t, s, b)
		h.wants(t, "when it is replaced", "", "a:1", "b:1")
		if n := len(a.watches()); n != 0 {
			t.Errorf("%d watch the old one", n)
		}
		b.tellAll()
		h.wants(t, "of the second", "", "a:1", "b:1")

		leave()
		synctest.Wait()
		if n := len(b.watches()); n != 0 {
			t.Errorf("%d still watch", n)
		}
		replace(t, s, newFake(t, "c"))
		h.wants(t, "when no client watches")
	})
}

func TestOnlySubscribersOfTheListReceiveItsChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource(t, newFake(t, "a"))
		list, one := &heard{t: t}, &heard{t: t}
		if _, err := s.Subscribe(t.Context(), nil, true, merging(t.Context(), list.notify)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Subscribe(t.Context(), parse("a:1"), false, merging(t.Context(), one.notify)); err != nil {
			t.Fatal(err)
		}
		replace(t, s, newFake(t, "b"))
		list.wants(t, "the list", "")
		one.wants(t, "a resource", "a:1")
	})
}

func TestSubscriptionsOfAnEmptySourceWaitForTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource(t)
		h := &heard{t: t}
		watched, err := s.Subscribe(t.Context(), parse("a:1"), true, merging(t.Context(), h.notify))
		if err != nil || !slices.Equal(texts(watched), []string{"a:1"}) {
			t.Fatalf("got %q, %v", watched, err)
		}
		h.wants(t, "at first")
		a := newFake(t, "a")
		replace(t, s, a)
		h.wants(t, "of the first", "", "a:1")
		if len(a.watches()) != 1 {
			t.Error("the first does not watch")
		}
	})
}

// A resource that is gone for one generation is watched again by the next that has it.
func TestSubscriptionsOutliveAGenerationThatRefusesThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		without, failing, with := newFake(t, "without"), newFake(t, "failing"), newFake(t, "with")
		without.refuse = func(uri string) bool { return uri == "a:1" }
		failing.fail = errors.New("no")
		s := newSource(t, newFake(t, "a"))
		h := &heard{t: t}
		if _, err := s.Subscribe(t.Context(), parse("a:1"), false, merging(t.Context(), h.notify)); err != nil {
			t.Fatal(err)
		}
		for _, f := range []*fake{without, failing, with} {
			replace(t, s, f)
			h.wants(t, f.name, "a:1")
		}
		with.tellAll()
		h.wants(t, "a change", "a:1")
	})
}

func TestARefusalIsTheGenerations(t *testing.T) {
	a := newFake(t, "a")
	a.refuse = func(uri string) bool { return uri == "b:1" }
	s := newSource(t, a)
	got, err := s.Subscribe(t.Context(), parse("a:1", "b:1"), false, resource.NotifierFunc(func(string) {}))
	if err != nil || !slices.Equal(texts(got), []string{"a:1"}) {
		t.Errorf("got %q, %v", got, err)
	}
	a.fail = abi.Errorf(abi.CodeBusy, "too many")
	if _, err := s.Subscribe(t.Context(), nil, true, resource.NotifierFunc(func(string) {})); abi.CodeOf(err) != abi.CodeBusy {
		t.Errorf("got %v, want busy", err)
	}
}

// A subscription that begins while the generation is replaced is one of the next.
func TestASubscriptionThatBeginsDuringAReplacementIsNotLost(t *testing.T) {
	for name, observes := range map[string]bool{"observes the end of its context": true, "does not": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b, goOn := newFake(t, "a"), newFake(t, "b"), make(chan struct{})
				a.called = func(ctx context.Context) {
					select {
					case <-goOn:
					case <-map[bool]<-chan struct{}{true: ctx.Done()}[observes]:
					}
				}
				s := newSource(t, a)
				h := &heard{t: t}
				var watched []abi.URI
				var err error
				go func() { watched, err = s.Subscribe(t.Context(), parse("a:1"), true, merging(t.Context(), h.notify)) }()
				synctest.Wait()
				replace(t, s, b)
				synctest.Wait()
				close(goOn)
				synctest.Wait()
				if err != nil || !slices.Equal(texts(watched), []string{"a:1"}) {
					t.Errorf("got %q, %v", watched, err)
				}
				a.isClosed(t, true)
				b.tellAll()
				h.wants(t, "of the second", "", "a:1")
			})
		})
	}
}

func TestChangesAreMergedWhileASubscriberIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource(t, newFake(t, "0"))
		h, goOn := &heard{t: t}, make(chan struct{})
		_, err := s.Subscribe(t.Context(), nil, true, merging(t.Context(), func(uri string) {
			h.notify(uri)
			<-goOn
		}))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b", "c", "d"} {
			replace(t, s, newFake(t, name))
			synctest.Wait()
		}
		h.wants(t, "while it is busy", "")
		close(goOn)
		h.wants(t, "then", "")
	})
}

// Subscribers are told of what changes from one generation to the next, and of nothing else.
func TestWhatGoesOnIsNoChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		marked := func(list, a, b any) *fake {
			f := newFake(t, "marked")
			f.mark = func(uri abi.URI) any { return map[string]any{"": list, "a:1": a, "b:1": b}[uri.String()] }
			return f
		}
		s := newSource(t, marked(1, 1, 1))
		h := &heard{t: t}
		if _, err := s.Subscribe(t.Context(), parse("a:1", "b:1"), true, merging(t.Context(), h.notify)); err != nil {
			t.Fatal(err)
		}
		refusing := marked(2, 2, 2)
		refusing.fail = errors.New("no")
		last := marked(2, 2, 2)
		for _, step := range []struct {
			name string
			next *fake
			want []string
		}{
			{"nothing changes", marked(1, 1, 1), nil},
			{"the list and a change", marked(2, 2, 1), []string{"", "a:1"}},
			{"unknown is a change", marked(2, nil, 1), []string{"a:1"}},
			{"and back", marked(2, 2, 2), []string{"a:1", "b:1"}},
			{"one that refuses may change all", refusing, []string{"", "a:1", "b:1"}},
			{"what was missed is told", last, []string{"", "a:1", "b:1"}},
			{"one without marks", newFake(t, "plain"), []string{"", "a:1", "b:1"}},
		} {
			replace(t, s, step.next)
			h.wants(t, step.name, step.want...)
		}
	})
}

// Until a subscription is at the next generation, the earlier one reports to it, and is not closed.
func TestNoChangeIsLostWhileASubscriptionMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		same := func(uri abi.URI) any { return uri.String() }
		a, b, goOn := newFake(t, "a"), newFake(t, "b"), make(chan struct{})
		a.mark, b.mark = same, same
		b.called = func(context.Context) { <-goOn }
		s := newSource(t, a)
		h := &heard{t: t}
		ctx, leave := context.WithCancel(t.Context())
		if _, err := s.Subscribe(ctx, parse("a:1"), false, merging(ctx, h.notify)); err != nil {
			t.Fatal(err)
		}
		replace(t, s, b)
		synctest.Wait()
		a.tellAll()
		h.wants(t, "while it moves", "a:1")
		a.isClosed(t, false)
		close(goOn)
		h.wants(t, "when it has moved")
		a.isClosed(t, true)
		b.tellAll()
		h.wants(t, "of the second", "a:1")
		leave()
		synctest.Wait()
		replace(t, s, newFake(t, "c"))
		synctest.Wait()
		b.isClosed(t, true)
	})
}
