package supervise

import (
	"slices"
	"time"
)

// A record is what has become of the workers since one has lived for Steady, and what follows from it.
type record struct {
	// Fixed at creation.
	first, most, steady time.Duration
	deaths              int
	window              time.Duration

	row    int         // ends
	recent []time.Time // of ends within the window, the oldest first; at most deaths+1, and none once the breaker is open
	open   bool        // the breaker
}

// end records that a worker has ended now, and gives how long to wait before the next start, shortened at random by up
// to half.
func (r *record) end(now time.Time, lived time.Duration, random float64) time.Duration {
	if lived >= r.steady {
		r.row, r.recent, r.open = 0, r.recent[:0], false
	}
	r.row++
	if !r.open {
		r.recent = slices.DeleteFunc(r.recent, func(t time.Time) bool { return now.Sub(t) > r.window })
		r.recent = append(r.recent, now)
		r.open = len(r.recent) > r.deaths
	}
	if r.open {
		r.recent = nil
	}
	wait := r.wait()
	return wait - time.Duration(random*float64(wait/2))
}

// wait is how long to wait after so many ends: zero after the first, which cannot have opened the breaker.
func (r *record) wait() time.Duration {
	if r.row == 1 {
		return 0
	}
	wait := r.first
	for i := 2; i < r.row && wait < r.most; i++ {
		wait += min(wait, r.most-wait)
	}
	return wait
}
