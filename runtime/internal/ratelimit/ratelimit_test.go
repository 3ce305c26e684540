package ratelimit

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

func TestEachClientHasItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := New(2, 4)
		if err != nil {
			t.Fatal(err)
		}
		sent := func(client string) (n int) {
			for {
				if _, ok := l.Client(client).Allow(1); !ok {
					return n
				}
				n++
			}
		}
		if a, b := sent("a"), sent("b"); a != 4 || b != 4 {
			t.Errorf("bursts of %d and %d, want 4", a, b)
		}
		retry, _ := l.Client("a").Allow(1)
		if retry != 500*time.Millisecond {
			t.Errorf("retry after %v", retry)
		}
		time.Sleep(retry)
		if n := sent("a"); n != 1 {
			t.Errorf("%d requests after that, want 1", n)
		}
		if retry, ok := l.Client("a").Allow(9); ok || retry != 2*time.Second {
			t.Errorf("9 at once: %v, %v", retry, ok)
		}
		time.Sleep(time.Hour)
		if _, ok := l.Client("a").Allow(4); !ok || sent("a") != 0 {
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
		l.Client(fmt.Sprint(i)).Allow(1)
	}
	if _, ok := l.Client("0").Allow(1); !ok {
		t.Error("the oldest client is still known")
	}
	if _, ok := l.Client(fmt.Sprint(maxClients)).Allow(1); ok {
		t.Error("the newest client was forgotten")
	}
}

func TestNoLimiterAllowsAll(t *testing.T) {
	if _, ok := (*Limiter)(nil).Client("a").Allow(1000); !ok {
		t.Error("refused")
	}
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
	c := l.Client("192.0.2.7")
	b.ReportAllocs()
	for b.Loop() {
		c.Allow(1)
	}
}
