package guest

import (
	"time"

	"github.com/wasmres/wasmres/abi"
)

// Rate limit of progress reports: a call passes on a few at once, and in the long run at most 20 a second.
const (
	reportBurst = 10
	reportEvery = 100 * time.Millisecond
)

// reports are the progress reports of one call; only the newest is passed on. The zero value has none.
type reports struct {
	seen      int // reports of the guest so far
	newest    abi.Progress
	waiting   bool      // newest is to be passed on
	paidUntil time.Time // when the burst is available again
}

// next returns the newest report, if it may be passed on now.
func (r *reports) next(now time.Time) (p abi.Progress, ok bool) {
	if !r.waiting || r.paidUntil.Sub(now) > (reportBurst-1)*reportEvery {
		return p, false
	}
	if r.paidUntil.Before(now) {
		r.paidUntil = now
	}
	r.paidUntil = r.paidUntil.Add(reportEvery)
	p, r.newest, r.waiting = r.newest, abi.Progress{}, false
	return p, true
}

// Progress implements [abi.Emission]. Of several reports in a frame the last one counts.
func (e emission) Progress(p abi.Progress) {
	r := &e.call.reports
	r.seen++
	r.newest, r.waiting = p, e.call.sink != nil
}

// Continue implements [abi.Emission]. A frame of 1 MiB can hold half a million fields, which take tens of milliseconds.
func (e emission) Continue() error {
	c := e.call
	switch {
	case c.reports.seen > c.host.Limits.HostCalls:
		return c.host.HostCallsError()
	case c.bounds != nil && c.bounds.Err() != nil:
		return c.host.ContextError(c.bounds)
	}
	return nil
}

// PassProgress passes the newest report on, if the rate allows that. A runner calls it while the guest runs, as at each
// tick.
func (c *Call) PassProgress() {
	if !c.reports.waiting {
		return
	}
	if p, ok := c.reports.next(time.Now()); ok {
		c.sink.Progress(p)
	}
}
