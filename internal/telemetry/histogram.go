package telemetry

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Upper bounds of the buckets of histograms.
var (
	requestBuckets = []time.Duration{
		50 * time.Microsecond, 100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond, time.Millisecond,
		2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
		100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 5 * time.Second, 30 * time.Second,
	}
	startBuckets = []time.Duration{
		2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
		100 * time.Millisecond, 250 * time.Millisecond, time.Second, 5 * time.Second, 30 * time.Second,
	}
	commitBuckets = []time.Duration{
		500 * time.Microsecond, time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond,
		25 * time.Millisecond, 100 * time.Millisecond, time.Second,
	}
)

// bucketIn returns the index of the first bound that is not below d; the number of bounds if there is none.
func bucketIn(bounds []time.Duration, d time.Duration) int {
	for i, b := range bounds {
		if d <= b {
			return i
		}
	}
	return len(bounds)
}

// A histogram counts times.
type histogram struct {
	counts []atomic.Uint64 // one more than there are bounds
	nanos  atomic.Uint64
}

func (h *histogram) init(bounds []time.Duration) { h.counts = make([]atomic.Uint64, len(bounds)+1) }

func (h *histogram) observe(bounds []time.Duration, d time.Duration) {
	h.counts[bucketIn(bounds, d)].Add(1)
	h.nanos.Add(uint64(max(d, 0)))
}

// used reports whether it has counted.
func (h *histogram) used() bool {
	for i := range h.counts {
		if h.counts[i].Load() > 0 {
			return true
		}
	}
	return false
}

func (h *histogram) metric(desc *prometheus.Desc, bounds []time.Duration, values ...string) prometheus.Metric {
	sum, upTo := uint64(0), make(map[float64]uint64, len(bounds))
	for i, b := range bounds {
		sum += h.counts[i].Load()
		upTo[b.Seconds()] = sum
	}
	sum += h.counts[len(bounds)].Load()
	return prometheus.MustNewConstHistogram(desc, sum, float64(h.nanos.Load())/1e9, upTo, values...)
}
