package reload_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/reload"
	"github.com/wasmres/wasmres/runtime/resource"
)

func TestEmptySourceSaysWhatItIsTold(t *testing.T) {
	s := newSource(t)
	_, err := answers(t.Context(), s)
	if abi.CodeOf(err) != abi.CodeUnavailable || err.Error() != "nothing yet" {
		t.Errorf("got %v, want the words for an empty source", err)
	}
}

func TestTheLastGenerationAnswers(t *testing.T) {
	s := newSource(t)
	for _, name := range []string{"a", "b", "c"} {
		replace(t, s, newFake(t, name))
		got, err := answers(t.Context(), s)
		if want := []string{name, name, name, name}; err != nil || !slices.Equal(got, want) {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

func TestCallsEndOnTheGenerationTheyBeganOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, goOn := newFake(t, "a"), newFake(t, "b"), make(chan struct{})
		a.called = func(context.Context) { <-goOn }
		s := newSource(t, a)
		var body text
		var err error
		go func() { _, err = s.Read(t.Context(), &resource.Request{URI: abi.MustParseURI("a:1")}, &body) }()
		synctest.Wait()
		replace(t, s, b)
		synctest.Wait()
		a.isClosed(t, false)
		if got, err := answers(t.Context(), s); err != nil || got[0] != "b" {
			t.Errorf("meanwhile: got %q, %v, want b", got, err)
		}
		close(goOn)
		synctest.Wait()
		if body.body != "a" || err != nil {
			t.Errorf("got %q, %v, want a", body.body, err)
		}
		a.isClosed(t, true)
		b.isClosed(t, false)
	})
}

func TestCloseWaitsForEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		wait := func(context.Context) { <-goOn }
		a, b, c := newFake(t, "a"), newFake(t, "b"), newFake(t, "c")
		a.called, b.called = wait, wait
		s := newSource(t)
		for _, f := range []*fake{a, b} {
			replace(t, s, f)
			go func() { _, _ = s.List(t.Context(), &resource.Request{}) }()
			synctest.Wait()
		}
		closed := make(chan error, 1)
		go func() { closed <- s.Close() }()
		synctest.Wait()
		if len(closed) > 0 {
			t.Error("Close did not wait")
		}
		_, err := answers(t.Context(), s)
		if abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "closing") {
			t.Errorf("while it closes: got %v", err)
		}
		if err := s.Replace(c); err == nil {
			t.Error("a generation was taken by a source that closes")
		}
		close(goOn)
		if err := <-closed; err != nil {
			t.Error(err)
		}
		a.isClosed(t, true)
		b.isClosed(t, true)
		c.isClosed(t, false)
		_, err = s.Subscribe(t.Context(), parse("a:1"), true, resource.NotifierFunc(func(string) {}))
		if abi.CodeOf(err) != abi.CodeUnavailable {
			t.Errorf("a subscription to a closed source: got %v", err)
		}
	})
}

func TestListVersionIsNeverTheSameAgain(t *testing.T) {
	s := newSource(t)
	seen := map[uint64]string{s.ListVersion(): "empty"}
	see := func(what string) {
		t.Helper()
		v := s.ListVersion()
		if before, ok := seen[v]; ok {
			t.Errorf("%s has version %d, as %s had", what, v, before)
		}
		seen[v] = what
	}
	for _, name := range []string{"a", "b", "c"} {
		f := newFake(t, name)
		replace(t, s, f)
		see(name)
		f.version.Add(2)
		see(name + ", changed")
	}
	s.Close()
	see("closed")
}

// The core keeps public pages of lists, but none longer than the generation that made it.
func TestPagesThatAreKeptGoWithTheirGeneration(t *testing.T) {
	s := newSource(t)
	core, err := mcp.New(mcp.Config{Source: s, Name: "test", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		f := newFake(t, name)
		calls := 0
		f.called = func(context.Context) { calls++ }
		replace(t, s, f)
		for range 3 {
			call := &mcp.Call{Method: "resources/list", Revision: mcp.Revision20251125}
			result, failed := core.Call(t.Context(), call)
			if failed != nil || !strings.Contains(string(result), `"uri":"`+name+`"`) {
				t.Errorf("got %s, %v, want the list of %s", result, failed, name)
			}
		}
		if calls != 1 {
			t.Errorf("%s was asked %d times, want once: the page was not kept", name, calls)
		}
	}
}

// TestHammer replaces generations while everything is done with them at once. The fakes see that none is used when it
// is closed.
func TestHammer(t *testing.T) {
	const rounds, workers = 200, 6
	s := reload.New(reload.Config{Empty: "nothing yet"})
	first := newFake(t, "0")
	all := []*fake{first}
	replace(t, s, first)
	ctx, stop := context.WithCancel(t.Context())
	var calling sync.WaitGroup
	for worker := range workers {
		calling.Go(func() {
			for i := worker; ctx.Err() == nil; i++ {
				hammer(ctx, t, s, i)
			}
		})
	}
	for i := range rounds {
		f := newFake(t, string(rune('a'+i%26)))
		all = append(all, f)
		replace(t, s, f)
		if got, err := answers(t.Context(), s); err != nil || got[0] != f.name {
			t.Errorf("round %d: got %q, %v, want %s", i, got, err, f.name)
		}
		f.tellAll()
	}
	stop()
	calling.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for i, f := range all {
		if n := f.closed.Load(); n != 1 {
			t.Errorf("generation %d was closed %d times", i, n)
		}
	}
}

// tellAll tells everybody of changes.
func (f *fake) tellAll() {
	for _, w := range f.watches() {
		for _, uri := range w.uris {
			w.n.Updated(uri)
		}
		if w.list {
			w.n.ListChanged()
		}
	}
}

// hammer does one thing of many. A subscription lasts until a change is reported, or the test ends.
func hammer(ctx context.Context, t *testing.T, s *reload.Source, i int) {
	if i%3 > 0 {
		if _, err := answers(t.Context(), s); err != nil {
			t.Errorf("a call was lost: %v", err)
		}
		return
	}
	watching, leave := context.WithCancel(t.Context())
	defer leave()
	told, h := make(chan struct{}, 1), &heard{t: t}
	watched, err := s.Subscribe(watching, parse("a:1", "b:1"), i%2 == 0, merging(watching, func(uri string) {
		h.notify(uri)
		select {
		case told <- struct{}{}:
		default:
		}
	}))
	if err != nil || len(watched) != 2 {
		t.Errorf("got %q, %v, want both watched", watched, err)
	}
	select {
	case <-told:
	case <-ctx.Done():
	}
}

// TestACallIsNotRepeatedAfterAReplacement replaces the generation while it is read: it may have had side effects.
func TestACallIsNotRepeatedAfterAReplacement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		a, b := newFake(t, "a"), newFake(t, "b")
		var calls atomic.Int32
		a.called = func(context.Context) { calls.Add(1); <-goOn }
		b.called = func(context.Context) { calls.Add(1) }
		s := newSource(t)
		replace(t, s, a)
		var got text
		var err error
		go func() { _, err = s.Read(t.Context(), &resource.Request{URI: abi.MustParseURI("a:1")}, &got) }()
		synctest.Wait()
		replace(t, s, b)
		close(goOn)
		synctest.Wait()
		if got.body != "a" || err != nil || calls.Load() != 1 {
			t.Errorf("got %q, %v after %d calls, want the first generation's answer after one", got.body, err, calls.Load())
		}
	})
}
