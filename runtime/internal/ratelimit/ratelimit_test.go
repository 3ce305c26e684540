package ratelimit

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/admission"
)

func TestEachClientHasItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := New(2, 4)
		if err != nil {
			t.Fatal(err)
		}
		sent := func(client string) (n int) {
			for {
				if _, ok := enter(l, client, 1); !ok {
					return n
				}
				n++
			}
		}
		if a, b := sent("a"), sent("b"); a != 4 || b != 4 {
			t.Errorf("bursts of %d and %d, want 4", a, b)
		}
		retry, _ := enter(l, "a", 1)
		if retry != 500*time.Millisecond {
			t.Errorf("retry after %v", retry)
		}
		time.Sleep(retry)
		if n := sent("a"); n != 1 {
			t.Errorf("%d requests after that, want 1", n)
		}
		if retry, ok := enter(l, "a", 9); ok || retry != 2*time.Second {
			t.Errorf("9 at once: %v, %v", retry, ok)
		}
		time.Sleep(time.Hour)
		if _, ok := enter(l, "a", 4); !ok || sent("a") != 0 {
			t.Error("a burst of 4 is not the most")
		}
	})
}

// Clients beyond the bound do not take memory.
func TestClientsAreForgotten(t *testing.T) {
	l, err := New(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxClients + 1 {
		enter(l, fmt.Sprint(i), 1)
	}
	if _, ok := enter(l, "0", 1); !ok {
		t.Error("the oldest client is still known")
	}
	if _, ok := enter(l, fmt.Sprint(maxClients), 1); ok {
		t.Error("the newest client was forgotten")
	}
}

// A refusal says whose limit it is.
func TestRefusals(t *testing.T) {
	l, err := New(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for by, of := range map[admission.By]string{admission.Principal: "principal", admission.Address: "client"} {
		a := l.Account(of, by)
		if _, ok := a.Enter(1); !ok {
			t.Errorf("%s: the first request was refused", of)
		}
		if got, ok := a.Enter(1); ok || got.Of != of || got.Limit != admission.Requests || got.RetryAfter <= 0 || got.Exhausted {
			t.Errorf("got %v, %v", got, ok)
		}
	}
}

// enter counts requests of a client.
func enter(l *Limiter, client string, n int) (retryAfter time.Duration, ok bool) {
	refused, ok := l.Account(client, admission.Address).Enter(n)
	return refused.RetryAfter, ok
}

func TestRates(t *testing.T) {
	for _, perSecond := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := New(perSecond, 1); err == nil {
			t.Errorf("%v was accepted", perSecond)
		}
	}
	if _, err := New(1, -1); err == nil {
		t.Error("a negative burst was accepted")
	}
}

func BenchmarkAllow(b *testing.B) {
	l, err := New(1e9, 1e9)
	if err != nil {
		b.Fatal(err)
	}
	c := l.Account("192.0.2.7", admission.Address)
	b.ReportAllocs()
	for b.Loop() {
		c.Enter(1)
	}
}
