package supervise

import (
	"slices"
	"time"
)

// A history has the exits since a worker last ran for StableAfter.
type history struct {
	// fixed at creation
	minBackoff, maxBackoff, stableAfter time.Duration
	maxExits                            int
	window                              time.Duration

	row    int         // exits
	recent []time.Time // of exits within the window, the oldest first; at most maxExits+1, and none while the breaker is open
	open   bool        // the breaker
}

// addExit adds an exit that happened now, and returns how long to wait before the next start. The wait is shortened at
// random by up to half.
func (r *history) addExit(now time.Time, uptime time.Duration, random float64) time.Duration {
	r.noteUptime(uptime)
	r.row++
	if !r.open {
		r.recent = slices.DeleteFunc(r.recent, func(t time.Time) bool { return now.Sub(t) > r.window })
		r.recent = append(r.recent, now)
		r.open = len(r.recent) > r.maxExits
	}
	if r.open {
		r.recent = nil
	}
	wait := r.backoff()
	return wait - time.Duration(random*float64(wait/2))
}

// noteUptime forgets all exits if a worker ran for so long before it ended or was stopped.
func (r *history) noteUptime(uptime time.Duration) {
	if uptime >= r.stableAfter {
		r.row, r.recent, r.open = 0, r.recent[:0], false
	}
}

// backoff returns how long to wait after the exits so far: zero after the first, which cannot have opened the breaker.
func (r *history) backoff() time.Duration {
	if r.row == 1 {
		return 0
	}
	wait := r.minBackoff
	for i := 2; i < r.row && wait < r.maxBackoff; i++ {
		wait += min(wait, r.maxBackoff-wait)
	}
	return wait
}
