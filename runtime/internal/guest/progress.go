package guest

import (
	"time"

	"github.com/wasmres/wasmres/abi"
)

// A call passes on a few reports of progress at once, and in the long run so many that there are at most 20 in a second.
const (
	reportBurst = 10
	reportEvery = 100 * time.Millisecond
)

// reports are the reports of progress of one call, of which the newest is passed on. The zero value has none.
type reports struct {
	seen    int // that the guest has made
	newest  abi.Progress
	waiting bool      // newest is to be passed on
	paid    time.Time // when the rate of reports is back at its bound
}

// take gives the newest report, if it may be passed on now.
func (r *reports) take(now time.Time) (p abi.Progress, ok bool) {
	if !r.waiting || r.paid.Sub(now) > (reportBurst-1)*reportEvery {
		return p, false
	}
	if r.paid.Before(now) {
		r.paid = now
	}
	r.paid = r.paid.Add(reportEvery)
	p, r.newest, r.waiting = r.newest, abi.Progress{}, false
	return p, true
}

// Progress implements [abi.Emission]. Of several reports in a frame the last is kept.
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

// PassProgress passes the newest report on, if the rate allows it now. A runner calls it while the guest runs, as at each
// tick.
func (c *Call) PassProgress() {
	if !c.reports.waiting {
		return
	}
	if p, ok := c.reports.take(time.Now()); ok {
		c.sink.Progress(p)
	}
}
