package bench_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/internal/bench"
	"github.com/wasmres/wasmres/internal/bench/benchtest"
)

const us = time.Microsecond

func times(n int, took time.Duration) []time.Duration { return slices.Repeat([]time.Duration{took}, n) }

func TestBuckets(t *testing.T) {
	for name, tt := range map[string]struct {
		took []time.Duration
		most int
		want []bench.Bucket
	}{
		"one": {times(3, 20*us), 0, []bench.Bucket{{20 * us, 22 * us, 3}}},
		"empty ones between": {
			[]time.Duration{10 * us, 12500, 12 * us}, 0,
			[]bench.Bucket{{10 * us, 11 * us, 1}, {11 * us, 12 * us, 0}, {12 * us, 13 * us, 2}},
		},
		"over a power of ten": {
			[]time.Duration{93 * us, 105 * us}, 0,
			[]bench.Bucket{{91 * us, 100 * us, 1}, {100 * us, 110 * us, 1}},
		},
		"the quickest and the slowest": {
			[]time.Duration{3, 2 * time.Minute}, 10,
			[]bench.Bucket{
				{10, 100, 1}, {100, us, 0}, {us, 10 * us, 0}, {10 * us, 100 * us, 0}, {100 * us, 1000 * us, 0},
				{1000 * us, 10_000 * us, 0}, {10_000 * us, 100_000 * us, 0}, {100 * time.Millisecond, time.Second, 0},
				{time.Second, 10 * time.Second, 0}, {10 * time.Second, 100 * time.Second, 1},
			},
		},
		"wider where they are too many": {
			[]time.Duration{10 * us, 14 * us, 60 * us}, 12,
			[]bench.Bucket{
				{10 * us, 12 * us, 1}, {12 * us, 15 * us, 1}, {15 * us, 18 * us, 0}, {18 * us, 22 * us, 0}, {22 * us, 27 * us, 0},
				{27 * us, 33 * us, 0}, {33 * us, 39 * us, 0}, {39 * us, 47 * us, 0}, {47 * us, 56 * us, 0}, {56 * us, 68 * us, 1},
			},
		},
		"outliers in the last": {
			append(times(9999, 20*us), 1050*us), 10,
			[]bench.Bucket{{20 * us, 22 * us, 9999}, {22 * us, 1100 * us, 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, benchtest.Measured(t, tt.took...).Buckets(tt.most)); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

func TestNoBucketsWithoutRequests(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := bench.Run(ctx, bench.Config{Call: func(context.Context) (bench.Cost, error) { return bench.Cost{}, nil }})
	if err != nil || r.Requests != 0 || r.Buckets(0) != nil || r.Fuel != (bench.Fuel{}) {
		t.Errorf("got %+v, %v, want nothing", r, err)
	}
}

// TestBucketsHoldEveryRequestOnce has latencies of all sizes in histograms of all heights.
func TestBucketsHoldEveryRequestOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var took []time.Duration
		for limit := random.Int64N(int64(time.Minute)); len(took) < 500; limit = max(limit*9/10, 5) {
			took = append(took, time.Duration(1+random.Int64N(limit)))
		}
		r := benchtest.Measured(t, took...)
		for _, most := range []int{0, 10, 14, 30, 300} {
			all := r.Buckets(most)
			if most > 0 && len(all) > most {
				t.Errorf("got %d buckets, want at most %d", len(all), most)
			}
			n := int64(0)
			for i, b := range all {
				if n += b.Requests; b.From >= b.To || i > 0 && b.From != all[i-1].To {
					t.Errorf("bucket %d is %+v, after %+v", i, b, all[max(i-1, 0)])
				}
			}
			if n != r.Requests || all[0].Requests == 0 || all[len(all)-1].Requests == 0 {
				t.Errorf("got %d requests in %+v, want %d, from the first bucket to the last", n, all, r.Requests)
			}
		}
	}
}
