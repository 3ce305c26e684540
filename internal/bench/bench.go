// Package bench measures a function that is called over and over.
//
// It owns the load loop and the latency histogram, and is the door to the histogram library. cmd/wasmres and
// benchmarks may import it. It knows nothing of what it measures.
package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Config says what to measure and for how long.
type Config struct {
	// Call does one request and says how many payload bytes it moved.
	Call func(ctx context.Context) (bytes int, err error)
	// Duration is how long to measure. 0 means 5 s.
	Duration time.Duration
	// Workers is how many requests are under way at once. 0 means 1.
	Workers int
}

// A Result is what was measured. Latencies are of single requests.
type Result struct {
	Requests  int64
	Bytes     int64
	Elapsed   time.Duration
	Mean      time.Duration
	Quantiles []Quantile
}

// A Quantile is the latency that a share of requests did not exceed.
type Quantile struct {
	Percent float64
	Latency time.Duration
}

// percents are the quantiles of every Result.
var percents = []float64{0, 50, 75, 90, 99, 99.9, 100}

// PerSecond is the rate of requests.
func (r *Result) PerSecond() float64 { return float64(r.Requests) / r.Elapsed.Seconds() }

// MegabytesPerSecond is the rate of payload, in units of 10^6 bytes.
func (r *Result) MegabytesPerSecond() float64 { return float64(r.Bytes) / 1e6 / r.Elapsed.Seconds() }

// Latency gives one of the quantiles a Result has.
func (r *Result) Latency(percent float64) time.Duration {
	for _, q := range r.Quantiles {
		if q.Percent == percent {
			return q.Latency
		}
	}
	return 0
}

const highest = int64(time.Minute)

// Run calls cfg.Call from cfg.Workers goroutines until the time is up or a call fails.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	if cfg.Duration <= 0 {
		cfg.Duration = 5 * time.Second
	}
	workers := make([]worker, max(cfg.Workers, 1))
	began := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	for i := range workers {
		w := &workers[i]
		w.histogram = hdr.New(1, highest, 3)
		running.Go(func() {
			if w.run(ctx, cfg.Call, began.Add(cfg.Duration)); w.err != nil {
				cancel()
			}
		})
	}
	running.Wait()
	return gather(workers, time.Since(began))
}

type worker struct {
	histogram *hdr.Histogram
	bytes     int64
	err       error
}

func (w *worker) run(ctx context.Context, call func(context.Context) (int, error), until time.Time) {
	for ctx.Err() == nil {
		began := time.Now()
		if began.After(until) {
			return
		}
		n, err := call(ctx)
		if err != nil {
			w.err = err
			return
		}
		w.bytes += int64(n)
		_ = w.histogram.RecordValue(min(int64(time.Since(began)), highest))
	}
}

func gather(workers []worker, elapsed time.Duration) (*Result, error) {
	all := hdr.New(1, highest, 3)
	r := &Result{Elapsed: elapsed}
	for _, w := range workers {
		if w.err != nil && !errors.Is(w.err, context.Canceled) {
			return nil, fmt.Errorf("after %d requests: %w", w.histogram.TotalCount(), w.err)
		}
		all.Merge(w.histogram)
		r.Bytes += w.bytes
	}
	r.Requests = all.TotalCount()
	r.Mean = time.Duration(all.Mean())
	for _, p := range percents {
		r.Quantiles = append(r.Quantiles, Quantile{p, time.Duration(all.ValueAtPercentile(p))})
	}
	return r, nil
}
