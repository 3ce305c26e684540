package bench_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/internal/bench"
)

func TestRunCountsWhatItCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		call := func(context.Context) (int, error) { time.Sleep(10 * time.Millisecond); return 100, nil }
		r, err := bench.Run(t.Context(), bench.Config{Call: call, Duration: time.Second, Workers: 4})
		if err != nil {
			t.Fatal(err)
		}
		if r.Requests < 400 || r.Requests > 408 || r.Bytes != 100*r.Requests {
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
	_, err := bench.Run(t.Context(), bench.Config{Duration: time.Hour, Call: func(context.Context) (int, error) {
		if calls++; calls == 3 {
			return 0, failure
		}
		return 1, nil
	}})
	if !errors.Is(err, failure) || !strings.Contains(err.Error(), "after 2 requests") {
		t.Errorf("got %v, want the failure after 2 requests", err)
	}
}

func TestCancellationEndsTheRunWithWhatThereIs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	r, err := bench.Run(ctx, bench.Config{Duration: time.Hour, Call: func(context.Context) (int, error) {
		if n++; n == 5 {
			cancel()
		}
		return 1, nil
	}})
	if err != nil || r.Requests != 5 {
		t.Errorf("got %+v, %v, want 5 requests", r, err)
	}
}
