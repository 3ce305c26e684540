package telemetry

import "time"

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
	times                     Times
}

// observe counts a request that ended at a time since the start.
func (r *recent) observe(code uint8, at, took time.Duration) {
	r.advance(at)
	w := &r.ring[r.last%windows]
	w.requests++
	w.times.Add(took)
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
		all.times.AddAll(&w.times)
	}
	return all
}

// p99 returns the time that 99 of 100 requests did not exceed, to a factor of 1.5; zero without requests.
func (w *window) p99() time.Duration { return w.times.AllBut(w.requests / 100) }
