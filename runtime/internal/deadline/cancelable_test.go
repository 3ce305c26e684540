package deadline_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/deadline"
)

var errTold = errors.New("told to end")

type keyOfTest struct{}

// TestACancelableIsAContext compares it with a context of the standard library, by the order in which it is waited for, cancelled, and
// its parent ends.
func TestACancelableIsAContext(t *testing.T) {
	type both struct {
		context.Context
		cancel    func(error)
		endParent func()
	}
	steps := map[string]func(b both){
		"cancel":     func(b both) { b.cancel(errTold) },
		"release":    func(b both) { b.cancel(nil) },
		"end parent": func(b both) { b.endParent() },
		"wait":       func(b both) { b.Done() },
		"look":       func(b both) { _ = b.Err() },
		"value":      func(b both) { b.Value(keyOfTest{}) },
	}
	made := func(of func(parent context.Context) (context.Context, func(error))) both {
		parent, end := context.WithCancelCause(context.WithValue(t.Context(), keyOfTest{}, "there"))
		ctx, cancel := of(parent)
		return both{ctx, cancel, func() { end(errors.New("the parent has ended")) }}
	}
	told := func(ctx context.Context) [4]string {
		done := "open"
		select {
		case <-ctx.Done():
			done = "closed"
		default:
		}
		return [4]string{text(ctx.Err()), text(context.Cause(ctx)), ctx.Value(keyOfTest{}).(string), done}
	}
	for first, one := range steps {
		for second, two := range steps {
			for third, three := range steps {
				t.Run(first+", "+second+", "+third, func(t *testing.T) {
					want := made(func(p context.Context) (context.Context, func(error)) {
						ctx, cancel := context.WithCancelCause(p)
						return ctx, cancel
					})
					got := made(func(p context.Context) (context.Context, func(error)) {
						ctx := deadline.NewCancelable(p)
						return ctx, ctx.Cancel
					})
					for _, step := range []func(both){one, two, three} {
						step(want)
						step(got)
					}
					if w, g := told(want), told(got); w != g {
						t.Errorf("got %q, the standard library's is %q", g, w)
					}
				})
			}
		}
	}
}

func text(err error) string {
	if err == nil {
		return "none"
	}
	return err.Error()
}

// A context that is made from a Cancelable ends with it, and has its cause, before and after a goroutine waits.
func TestContextsOfACancelableEndWithIt(t *testing.T) {
	for name, of := range map[string]func(ctx context.Context) (context.Context, context.CancelFunc){
		"cancel": context.WithCancel,
		"timeout": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Hour)
		},
		"value": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithValue(ctx, keyOfTest{}, "there"), func() {}
		},
		"deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
			d := deadline.New(ctx, time.Hour)
			return d, d.Release
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := deadline.NewCancelable(t.Context())
			ctx, cancel := of(c)
			defer cancel()
			called := make(chan struct{})
			context.AfterFunc(c, func() { close(called) })
			c.Cancel(errTold)
			<-called
			<-ctx.Done()
			if cause := context.Cause(ctx); !errors.Is(cause, errTold) {
				t.Errorf("the cause is %v, not %v", cause, errTold)
			}
		})
	}
}

// TestACancelableIsSafeForManyGoroutines is for the race detector.
func TestACancelableIsSafeForManyGoroutines(t *testing.T) {
	for range 100 {
		parent, end := context.WithCancel(t.Context())
		c := deadline.NewCancelable(parent)
		var all sync.WaitGroup
		for _, use := range []func(){
			func() { c.Cancel(errTold) },
			end,
			func() { <-c.Done() },
			func() { _ = c.Err() },
			func() { c.Value(keyOfTest{}) },
			func() { _ = context.Cause(c) },
			func() { context.AfterFunc(c, func() {})() },
		} {
			all.Go(use)
		}
		all.Wait()
		if !errors.Is(c.Err(), context.Canceled) {
			t.Errorf("the error is %v", c.Err())
		}
	}
}

func TestACancelableWithoutWaitersIsOneAllocation(t *testing.T) {
	parent := t.Context()
	if n := testing.AllocsPerRun(1000, func() {
		c := deadline.NewCancelable(parent)
		sink = c
		_ = c.Err()
		c.Value(keyOfTest{})
		c.Cancel(nil)
	}); n != 1 {
		t.Errorf("got %v allocations", n)
	}
}

var sink context.Context
