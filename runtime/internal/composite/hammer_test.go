package composite_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/composite"
	"github.com/wasmres/wasmres/runtime/resource"
)

// TestHammer does everything at once, with members that fail now and then, and closes the source while it goes on.
func TestHammer(t *testing.T) {
	sources := fakes(40, 7, 30)
	var calls atomic.Int64
	for i, f := range sources {
		f.fail = func(ctx context.Context) error {
			switch n := calls.Add(1); {
			case n%11 == int64(i):
				return errBroken
			case n%501 == 0:
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
		f.watch = func(ctx context.Context, uris []abi.URI, _ bool, n resource.Notifier) ([]abi.URI, error) {
			context.AfterFunc(ctx, n.ListChanged)
			for range 3 {
				n.ListChanged()
			}
			return uris, nil
		}
	}
	said := &recorder{}
	s := compose(t, composite.Config{Members: members(sources), PageSize: 7, MemberTimeout: 5 * time.Millisecond})
	var workers sync.WaitGroup
	for worker := range 8 {
		workers.Go(func() {
			for i := range 400 {
				hammer(t, s, worker+i, said)
			}
			if worker == 0 {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	if len(said.take()) == 0 {
		t.Error("nothing failed")
	}
}

// hammer does one thing of many.
func hammer(t *testing.T, s *composite.Source, i int, said *recorder) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond) // reads wait as long as they are let
	defer cancel()
	switch i % 4 {
	case 0, 1:
		list := said.hear([]lister{s.List, s.Templates}[i%4])
		req := &resource.Request{}
		for pages := 0; pages == 0 || req.Cursor != ""; pages++ {
			page, err := list(ctx, req)
			if err != nil && ctx.Err() != nil {
				return
			}
			if err != nil || len(page.Resources)+len(page.Templates) > 7 || pages > 12 {
				t.Errorf("page %d: got %v, %v", pages, page, err)
				return
			}
			req.Cursor = page.NextCursor
		}
	case 2:
		uri := fmt.Sprintf("%c:%d", 'a'+i%5, i)
		if got, err := read(ctx, s, uri); err == nil && got != uri[:1] {
			t.Errorf("%s: got %q", uri, got)
		}
	case 3:
		_, _ = s.Subscribe(ctx, parse("a:1", "b:1", "z:1"), i%3 == 0, resource.NotifierFunc(func(string) {}))
		s.AfterResponse()
		s.EndSession("one")
	}
}
