package bench_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/internal/bench"
)

func TestRunCountsWhatItCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		call := func(context.Context) (bench.Cost, error) {
			time.Sleep(10 * time.Millisecond)
			return bench.Cost{Bytes: 100}, nil
		}
		r, err := bench.Run(t.Context(), bench.Config{Call: call, Duration: time.Second, Workers: 4})
		if err != nil {
			t.Fatal(err)
		}
		if r.Requests < 400 || r.Requests > 408 || r.Bytes != 100*uint64(r.Requests) {
			t.Errorf("got %d requests of %d bytes, want about 400 of 100 each", r.Requests, r.Bytes)
		}
		for _, p := range []float64{0, 50, 99, 100} {
			if got := r.Latency(p); got < 9900*time.Microsecond || got > 10100*time.Microsecond {
				t.Errorf("p%v: got %v, want 10ms", p, got)
			}
		}
		if rate := r.PerSecond(); rate < 390 || rate > 410 {
			t.Errorf("got %v requests/s, want about 400", rate)
		}
	})
}

func TestTheFirstFailureEndsTheRun(t *testing.T) {
	failure := errors.New("broken")
	calls := 0
	_, err := bench.Run(t.Context(), bench.Config{Duration: time.Hour, Call: func(context.Context) (bench.Cost, error) {
		if calls++; calls == 3 {
			return bench.Cost{}, failure
		}
		return bench.Cost{}, nil
	}})
	if !errors.Is(err, failure) || !strings.Contains(err.Error(), "after 2 requests") {
		t.Errorf("got %v, want the failure after 2 requests", err)
	}
}

func TestCancellationEndsTheRunWithWhatThereIs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	r, err := bench.Run(ctx, bench.Config{Duration: time.Hour, Call: func(context.Context) (bench.Cost, error) {
		if n++; n == 5 {
			cancel()
		}
		return bench.Cost{}, nil
	}})
	if err != nil || r.Requests != 5 {
		t.Errorf("got %+v, %v, want 5 requests", r, err)
	}
}

func TestFuelOfAllRequests(t *testing.T) {
	for name, tt := range map[string]struct {
		used []uint64
		want bench.Fuel
	}{
		"the same each time": {[]uint64{70, 70, 70}, bench.Fuel{Min: 70, Median: 70, Max: 70}},
		"none":               {[]uint64{0}, bench.Fuel{}},
		"unordered":          {[]uint64{9, 1, 5, 1000, 2}, bench.Fuel{Min: 1, Median: 5, Max: 1000}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			next := 0
			r, err := bench.Run(ctx, bench.Config{Duration: time.Hour, Call: func(context.Context) (bench.Cost, error) {
				used := tt.used[next]
				if next++; next == len(tt.used) {
					cancel()
				}
				return bench.Cost{Fuel: used, HostCalls: next}, nil
			}})
			if err != nil || r.Fuel != tt.want || r.HostCalls != len(tt.used) {
				t.Errorf("got %+v and %d host calls, %v, want %+v and %d", r.Fuel, r.HostCalls, err, tt.want, len(tt.used))
			}
		})
	}
}

func TestWorkersPutTheirFuelTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Uint64
		r, err := bench.Run(t.Context(), bench.Config{Workers: 3, Duration: 1, Call: func(context.Context) (bench.Cost, error) {
			time.Sleep(time.Second)
			return bench.Cost{Fuel: 10 * calls.Add(1)}, nil
		}})
		if want := (bench.Fuel{Min: 10, Median: 20, Max: 30}); err != nil || r.Fuel != want {
			t.Errorf("got %+v, %v, want %+v: one request of each worker", r, err, want)
		}
	})
}

func TestWarmUpIsNotMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		call := func(context.Context) (bench.Cost, error) {
			if time.Since(began) < time.Second {
				time.Sleep(500 * time.Millisecond)
			}
			time.Sleep(10 * time.Millisecond)
			return bench.Cost{}, nil
		}
		r, err := bench.Run(t.Context(), bench.Config{Call: call, WarmUp: time.Second, Duration: time.Second})
		if err != nil || r.Latency(100) > 11*time.Millisecond || r.Requests < 99 || r.Requests > 101 {
			t.Errorf("got %+v, %v, want 100 requests of 10ms", r, err)
		}
	})
}

func TestAFailureWhileWarmingUpEndsTheRun(t *testing.T) {
	failure := errors.New("broken")
	_, err := bench.Run(t.Context(), bench.Config{WarmUp: time.Hour, Call: func(context.Context) (bench.Cost, error) {
		return bench.Cost{}, failure
	}})
	if !errors.Is(err, failure) {
		t.Errorf("got %v, want %v", err, failure)
	}
}
