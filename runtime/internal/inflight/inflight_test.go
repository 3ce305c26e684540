package inflight_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
)

func TestABudgetIsNotExceeded(t *testing.T) {
	b := inflight.New(100)
	if !b.Reserve(30) || b.Reserve(21) || !b.Reserve(20) || b.Reserve(1) {
		t.Fatal("of 100 bytes, each counted twice, 50 can be reserved and no more")
	}
	if b.Release(1); !b.Reserve(1) {
		t.Error("what was given back cannot be reserved")
	}
	if b.Force(5); b.Used() != 110 || b.Reserve(0) == false {
		t.Errorf("got %d, want 110", b.Used())
	}
}

func TestANilBudgetHasNoBound(t *testing.T) {
	var b *inflight.Budget
	h := b.Hold()
	defer h.End()
	if !b.Reserve(1<<62) || b.Wait(t.Context(), 1<<62, 0) != nil || !h.Take(1<<62) || !h.Fits(1) || b.Used() != 0 {
		t.Error("refused")
	}
	b.Release(1)
	b.Force(1)
}

// Waiters are served in their order, even when a later one needs less.
func TestWaitersAreServedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inflight.New(100)
		b.Force(50)
		order := make(chan int, 3)
		for i, n := range []int{40, 10, 30} {
			go func() {
				if err := b.Wait(t.Context(), n, time.Hour); err == nil {
					order <- i
				}
			}()
			synctest.Wait()
		}
		b.Release(30)
		synctest.Wait()
		if len(order) != 0 {
			t.Fatalf("%d was served with 30 bytes free, before one that waits for 40", <-order)
		}
		b.Release(20)
		synctest.Wait()
		if len(order) != 2 || <-order+<-order != 1 {
			t.Fatal("the first two were not served when there was room for both")
		}
		b.Release(40)
		if synctest.Wait(); len(order) != 1 || b.Used() != 80 {
			t.Errorf("%d served, %d used", len(order), b.Used())
		}
	})
}

func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inflight.New(100)
		b.Force(50)
		began := time.Now()
		err := b.Wait(t.Context(), 1, 3*time.Second)
		var public *abi.Error
		if took := time.Since(began); took != 3*time.Second || !errors.As(err, &public) || public.Code != abi.CodeBusy || public.RetryAfter != 3*time.Second {
			t.Errorf("got %v after %v", err, took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.Wait(ctx, 1, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if b.Release(50); b.Used() != 0 || !b.Reserve(50) {
			t.Errorf("%d used by waiters that gave up", b.Used())
		}
	})
}

func TestHold(t *testing.T) {
	b := inflight.New(200)
	h := b.Hold()
	if err := h.Wait(t.Context(), 60, time.Hour); err != nil || b.Used() != 120 {
		t.Fatalf("%v, %d used", err, b.Used())
	}
	if !h.Take(50) || !h.Take(20) || b.Used() != 140 || h.Take(31) || h.Used() != 70 {
		t.Errorf("%d of the budget for %d", b.Used(), h.Used())
	}
	if !h.Fits(30) || h.Fits(31) || b.Used() != 140 {
		t.Errorf("70 of 100 bytes are used: %v for 30 more, %v for 31, %d of the budget", h.Fits(30), h.Fits(31), b.Used())
	}
	if inflight.Of(inflight.With(t.Context(), h)) != h || inflight.Of(t.Context()) != nil {
		t.Error("a context has the wrong Hold")
	}
	h.End()
	h.End()
	if b.Used() != 0 || h.Take(1) {
		t.Errorf("%d used after the end", b.Used())
	}
	h = b.Hold()
	if err := h.Wait(t.Context(), 1000, time.Hour); err != nil || b.Used() != 200 {
		t.Errorf("one that wants more than all: %v, %d used", err, b.Used())
	}
	if h.Take(10); b.Used() != 200 {
		t.Errorf("%d used", b.Used())
	}
	if h.Trim(); b.Used() != 20 {
		t.Errorf("%d used after what is not needed was given back", b.Used())
	}
}

// No part of the budget is lost, and waiters are served, however other waiters end.
func TestHammer(t *testing.T) {
	b := inflight.New(1000)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			for j := range 200 {
				h := b.Hold()
				patience := time.Duration(j%3) * 50 * time.Microsecond
				if h.Wait(t.Context(), 1+(i*j)%400, patience) == nil {
					h.Take(i)
				}
				h.End()
			}
		})
	}
	all.Wait()
	if b.Used() != 0 {
		t.Errorf("%d used in the end", b.Used())
	}
	if err := b.Wait(t.Context(), 500, 0); err != nil {
		t.Error(err)
	}
}
