package turns_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/internal/turns"
)

// flood has an owner with so much work at once, each of which takes a minute. It returns when all waits.
func flood(ctx context.Context, l *turns.Line, owner string, n int, begun func(string)) (wait func()) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			leave, err := l.Enter(ctx, owner)
			if err != nil {
				return
			}
			defer leave()
			begun(owner)
			select {
			case <-ctx.Done():
			case <-time.After(time.Minute):
			}
		})
	}
	synctest.Wait()
	return all.Wait
}

func TestAFloodOfOneOwnerDelaysNoOther(t *testing.T) {
	for _, slots := range []int{2, 3, 8} {
		t.Run(fmt.Sprint(slots), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				l := turns.New(slots)
				wait := flood(ctx, l, "a", 100, func(string) {})
				for _, owner := range []string{"b", "b", "c", ""} {
					began := time.Now()
					leave, err := l.Enter(ctx, owner)
					if err != nil || time.Since(began) != 0 {
						t.Errorf("%s has waited for %v, %v", owner, time.Since(began), err)
					}
					leave()
				}
				cancel()
				wait()
			})
		})
	}
}

func TestOwnersTakeTurns(t *testing.T) {
	for _, slots := range []int{1, 2} {
		t.Run(fmt.Sprint(slots), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := turns.New(slots)
				var mu sync.Mutex
				var order string
				begun := func(owner string) {
					mu.Lock()
					defer mu.Unlock()
					order += owner
				}
				waits := []func(){flood(t.Context(), l, "a", 6, begun), flood(t.Context(), l, "b", 3, begun), flood(t.Context(), l, "c", 2, begun)}
				for _, wait := range waits {
					wait()
				}
				if first := order[:6]; strings.Count(first, "a") != 2 || strings.Count(first, "b") != 2 || strings.Count(first, "c") != 2 || len(order) != 11 {
					t.Errorf("got %s, want two of each at first, and all in the end", order)
				}
			})
		})
	}
}

func TestAnEmptyOwnerHasAllSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := turns.New(3)
		running := 0
		var mu sync.Mutex
		wait := flood(t.Context(), l, "", 5, func(string) { mu.Lock(); running++; mu.Unlock() })
		mu.Lock()
		if running != 3 {
			t.Errorf("%d of 3 slots are used", running)
		}
		mu.Unlock()
		wait()
	})
}

// Work that no longer waits takes no slot, and leaves nothing behind.
func TestAWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := turns.New(1)
		leave, err := l.Enter(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		if _, err := l.Enter(ctx, "b"); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
		leave()
		leave, err = l.Enter(t.Context(), "c")
		if err != nil {
			t.Fatal(err)
		}
		leave()
	})
}
