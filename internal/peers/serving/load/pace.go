package load

import "time"

// A pace says when requests are due.
type pace struct {
	every   time.Duration // 0 for no pace
	next    time.Time
	starved bool // a request was due when no connection was free
}

func newPace(rate float64) *pace {
	p := &pace{next: time.Now()}
	if rate > 0 {
		p.every = time.Duration(float64(time.Second) / rate)
	}
	return p
}

// due reports whether a request is, and since when, if one can be sent.
func (p *pace) due(now time.Time, free bool) (since time.Time, ok bool) {
	if p.next.After(now) {
		p.starved = false
		return now, false
	}
	if !free {
		p.starved = true
		return now, false
	}
	since = now
	if p.starved {
		since = p.next
	}
	p.next = p.next.Add(p.every)
	return since, true
}

// until is how long there is nothing to send; most when there is no pace or no free connection to send on.
func (p *pace) until(now time.Time, free bool, most time.Duration) time.Duration {
	if p.every == 0 || !free {
		return most
	}
	return min(max(p.next.Sub(now), 0), most)
}
