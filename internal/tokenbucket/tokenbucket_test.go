package tokenbucket_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/tokenbucket"
)

const second = int64(time.Second)

// taken is how many tokens a bucket has.
func taken(b *tokenbucket.Bucket, now int64, r tokenbucket.Rate) (n int) {
	for ; n < 1_000_000; n++ {
		if _, ok := b.Take(now, 1, r); !ok {
			return n
		}
	}
	return n
}

func TestTake(t *testing.T) {
	r, now := tokenbucket.New(2, 4), second
	var b tokenbucket.Bucket
	if n := taken(&b, now, r); n != 4 {
		t.Errorf("a full bucket has %d tokens, want 4", n)
	}
	if retry, ok := b.Take(now, 1, r); ok || retry != 500*time.Millisecond {
		t.Errorf("of an empty one: %v, %v", retry, ok)
	}
	if retry, ok := b.Take(now, 9, r); ok || retry != 2*time.Second {
		t.Errorf("9 of 4: %v, %v", retry, ok)
	}
	if n := taken(&b, now+second, r); n != 2 {
		t.Errorf("after a second: %d tokens, want 2", n)
	}
	if n := taken(&b, now+1000*second, r); n != 4 {
		t.Errorf("after a long time: %d tokens, want 4", n)
	}
	now += 2000 * second
	b.Take(now, 3, r)
	b.Return(2, r)
	if n := taken(&b, now, r); n != 3 {
		t.Errorf("after a return: %d tokens, want 3", n)
	}
}

func TestRates(t *testing.T) {
	for _, c := range []struct {
		perSecond float64
		burst     int
		want      int
	}{{1.5, 0, 2}, {0.1, 0, 1}, {5, 3, 3}, {1e-30, 1, 1}, {1e300, 1, 1_000_000}} {
		if n := taken(new(tokenbucket.Bucket), second, tokenbucket.New(c.perSecond, c.burst)); n != c.want {
			t.Errorf("%v a second, %d at once: %d tokens, want %d", c.perSecond, c.burst, n, c.want)
		}
	}
	if _, ok := new(tokenbucket.Bucket).Take(0, 1<<30, tokenbucket.Rate{}); !ok {
		t.Error("the zero rate has a bound")
	}
}

func TestOwe(t *testing.T) {
	var b tokenbucket.Bucket
	r := tokenbucket.New(100, 0)
	for i, want := range []time.Duration{0, 0, 500 * time.Millisecond, time.Second} {
		if wait := b.Owe(second, 50, r); wait != want {
			t.Errorf("step %d: wait %v, want %v", i, wait, want)
		}
	}
	if wait := b.Owe(2*second, 1, r); wait != 10*time.Millisecond {
		t.Errorf("after a second: wait %v", wait)
	}
	if wait := b.Owe(second, 1<<60, r); wait <= 0 {
		t.Errorf("of very much: wait %v", wait)
	}
}

// When the rate changes, as many tokens are missing as before.
func TestChange(t *testing.T) {
	var b tokenbucket.Bucket
	slow, fast := tokenbucket.New(2, 10), tokenbucket.New(50, 20)
	b.Take(second, 8, slow)
	b.Change(second, slow, fast)
	if n := taken(&b, second, fast); n != 12 {
		t.Errorf("%d tokens, want 12", n)
	}
	b.Change(second, fast, slow) // 20 are missing, of 10
	if retry, ok := b.Take(second, 1, slow); ok || retry < 5*time.Second {
		t.Errorf("of fewer tokens: %v, %v", retry, ok)
	}
}

func TestConcurrentTakes(t *testing.T) {
	var b tokenbucket.Bucket
	var got atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				if _, ok := b.Take(second, 1, tokenbucket.New(1, 1234)); ok {
					got.Add(1)
				}
			}
		})
	}
	all.Wait()
	if got.Load() != 1234 {
		t.Errorf("%d tokens, want 1234", got.Load())
	}
}
