// Package bench measures a function by calling it repeatedly.
//
// It owns the load loop and the latency histogram, and is the door to the histogram library. cmd/wasmres and benchmarks
// may import it. It does not know what the function does.
package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Config configures a measurement.
type Config struct {
	// Call sends one request and returns its cost.
	Call func(ctx context.Context) (Cost, error)
	// Duration is how long to measure. 0 means 5 s. Each worker does one request, however long that takes.
	Duration time.Duration
	// WarmUp is how long to call before that, without measuring. 0 means not at all.
	WarmUp time.Duration
	// Workers is how many requests are under way at once. 0 means 1.
	Workers int
}

// A Cost is the cost of one request beside time.
type Cost struct {
	Bytes     uint64 // of payload
	Fuel      uint64 // units of work that are the same on every machine
	HostCalls int
}

// A Result is the result of a measurement. Latencies are of single requests.
type Result struct {
	Requests  int64
	Bytes     uint64
	HostCalls int // at most in one request
	Elapsed   time.Duration
	Mean      time.Duration
	Quantiles []Quantile
	Fuel      Fuel

	latencies latencies
}

// A Quantile is the latency that a share of requests did not exceed.
type Quantile struct {
	Percent float64
	Latency time.Duration
}

// percents are the quantiles of every Result.
var percents = []float64{0, 50, 75, 90, 99, tail, 100}

// tail is the percentage of requests that are no outliers.
const tail = 99.9

// PerSecond returns the rate of requests.
func (r *Result) PerSecond() float64 { return float64(r.Requests) / r.Elapsed.Seconds() }

// MegabytesPerSecond returns the rate of payload, in units of 10^6 bytes.
func (r *Result) MegabytesPerSecond() float64 { return float64(r.Bytes) / 1e6 / r.Elapsed.Seconds() }

// Latency returns one of the quantiles of the Result.
func (r *Result) Latency(percent float64) time.Duration {
	for _, q := range r.Quantiles {
		if q.Percent == percent {
			return q.Latency
		}
	}
	return 0
}

// Run calls cfg.Call from cfg.Workers goroutines until the time is over, ctx ends or a call fails, which is an error.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	if cfg.Duration <= 0 {
		cfg.Duration = 5 * time.Second
	}
	if cfg.WarmUp > 0 {
		if _, err := run(ctx, cfg, cfg.WarmUp); err != nil {
			return nil, err
		}
	}
	return run(ctx, cfg, cfg.Duration)
}

func run(ctx context.Context, cfg Config, duration time.Duration) (*Result, error) {
	workers := make([]worker, max(cfg.Workers, 1))
	began := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	for i := range workers {
		w := &workers[i]
		w.latencies = newLatencies()
		running.Go(func() {
			if w.run(ctx, cfg.Call, began.Add(duration)); w.err != nil {
				cancel()
			}
		})
	}
	running.Wait()
	return gather(workers, time.Since(began))
}

// A worker does one request after the other.
type worker struct {
	latencies latencies
	fuel      fuelGauge
	bytes     uint64
	hostCalls int
	err       error
}

func (w *worker) run(ctx context.Context, call func(context.Context) (Cost, error), until time.Time) {
	for ctx.Err() == nil {
		began := time.Now()
		cost, err := call(ctx)
		took := time.Since(began)
		if err != nil {
			w.err = err
			return
		}
		w.note(took, cost)
		if !began.Add(took).Before(until) {
			return
		}
	}
}

func (w *worker) note(took time.Duration, cost Cost) {
	w.latencies.add(took)
	w.fuel.add(cost.Fuel)
	w.bytes += cost.Bytes
	w.hostCalls = max(w.hostCalls, cost.HostCalls)
}

func gather(workers []worker, elapsed time.Duration) (*Result, error) {
	r := &Result{Elapsed: elapsed, latencies: newLatencies()}
	var fuel fuelGauge
	for i := range workers {
		w := &workers[i]
		if w.err != nil && !errors.Is(w.err, context.Canceled) {
			return nil, fmt.Errorf("after %d requests: %w", w.latencies.TotalCount(), w.err)
		}
		r.latencies.Merge(w.latencies.Histogram)
		fuel.merge(&w.fuel)
		r.Bytes += w.bytes
		r.HostCalls = max(r.HostCalls, w.hostCalls)
	}
	r.Requests = r.latencies.TotalCount()
	r.Mean = time.Duration(r.latencies.Mean())
	r.Fuel = fuel.read()
	for _, p := range percents {
		r.Quantiles = append(r.Quantiles, Quantile{p, time.Duration(r.latencies.ValueAtPercentile(p))})
	}
	return r, nil
}
