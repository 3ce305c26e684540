package load

import (
	"math/bits"
	"time"
)

// A Load is how hard to ask and for how long.
type Load struct {
	Warmup   time.Duration // not measured
	Duration time.Duration
	Requests int     // stop after so many measured ones even if there is time left; 0 for no such end
	Rate     float64 // requests begun in a second, evenly; 0 for each as soon as the one before is answered
	// Measuring is called when the warm-up ends. May be nil.
	Measuring func()
}

// A Result is what was measured.
type Result struct {
	Requests int
	Elapsed  time.Duration
	Length   int64         // bytes of each response's body, or line
	Streams  int           // responses, warm-up included, that came as a stream of events and have another length
	CPU      time.Duration // of this process, between
	latency  histogram
}

// Rate gives the responses of a second.
func (r *Result) Rate() float64 { return float64(r.Requests) / r.Elapsed.Seconds() }

// Quantile gives the time within which that share of the requests was answered, too long by at most 1/64. With a Rate,
// a request's time begins when it was due if no connection was free then.
func (r *Result) Quantile(q float64) time.Duration { return r.latency.quantile(q) }

// A histogram counts durations in buckets that are at most 1/64 of their lower bound wide.
type histogram struct {
	counts [64 * 64]uint32
	all    int
}

const subBits = 6

func (h *histogram) add(d time.Duration) {
	h.counts[bucket(uint64(max(d, 0)))]++
	h.all++
}

func bucket(ns uint64) int {
	shift := max(bits.Len64(ns)-subBits-1, 0)
	return shift<<subBits + int(ns>>shift)
}

// upper is the largest value of a bucket.
func upper(bucket int) uint64 {
	shift := max(bucket>>subBits-1, 0)
	return uint64(bucket-shift<<subBits+1)<<shift - 1
}

func (h *histogram) quantile(q float64) time.Duration {
	before := 0
	for b, n := range h.counts {
		if before += int(n); n > 0 && float64(before) >= q*float64(h.all) {
			return time.Duration(upper(b))
		}
	}
	return 0
}
