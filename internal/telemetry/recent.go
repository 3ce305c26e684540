package telemetry

import (
	"math/bits"
	"time"
)

// Of the requests of the last 15 to 20 seconds, recent knows the number and how long they took.
const (
	windows    = 4
	windowTime = 5 * time.Second
)

// recent has the last windows, each at its number modulo windows.
type recent struct {
	last int64 // number of the newest one
	ring [windows]window
}

// A window has what came in one windowTime.
type window struct {
	requests, limited, faults uint32
	times                     [timeBuckets]uint32 // by bucketOf
}

// observe counts a request that ended at a time since the start.
func (r *recent) observe(code uint8, at, took time.Duration) {
	r.advance(at)
	w := &r.ring[r.last%windows]
	w.requests++
	w.times[bucketOf(took)]++
	if code == limitedCode {
		w.limited++
	}
	if faults[code] {
		w.faults++
	}
}

var limitedCode = codes.of("limited")

// advance clears windows that are over. A time before the newest window changes nothing.
func (r *recent) advance(at time.Duration) {
	now := int64(at / windowTime)
	for ; r.last < now && r.last+windows >= now; r.last++ {
		r.ring[(r.last+1)%windows] = window{}
	}
	if r.last < now {
		r.last, r.ring = now, [windows]window{}
	}
}

// sum returns all that came in the windows that are not over at a time.
func (r *recent) sum(at time.Duration) (all window) {
	r.advance(at)
	for i := range r.ring {
		w := &r.ring[i]
		all.requests += w.requests
		all.limited += w.limited
		all.faults += w.faults
		for b, n := range w.times {
			all.times[b] += n
		}
	}
	return all
}

// timeBuckets is the number of buckets of times: two for each doubling from a microsecond, up to 67 seconds.
const timeBuckets = 2 * 26

// bucketOf returns the bucket of a time.
func bucketOf(d time.Duration) int {
	us := uint64(max(d.Microseconds(), 1))
	exp := bits.Len64(us) - 1
	half := 0
	if exp > 0 {
		half = int(us >> (exp - 1) & 1)
	}
	return min(2*exp+half, timeBuckets-1)
}

// endOf returns the time before which those of a bucket are.
func endOf(bucket int) time.Duration {
	exp, half := bucket/2, bucket%2
	start := time.Microsecond << exp
	if half == 0 {
		return start + start/2
	}
	return 2 * start
}

// p99 returns the time that 99 of 100 requests did not exceed, to a factor of 1.5; zero without requests.
func (w *window) p99() time.Duration {
	above, allowed := uint32(0), w.requests/100
	for b := timeBuckets - 1; b >= 0; b-- {
		if above += w.times[b]; above > allowed {
			return endOf(b)
		}
	}
	return 0
}
