package runtime

import (
	"time"

	"github.com/wasmres/wasmres/abi"
)

// The reports of progress that a call passes on: a few at once, and so many more in the long run that there are never more
// than 20 in one second.
const (
	reportBurst = 10
	reportEvery = 100 * time.Millisecond
)

// reports are the reports of progress of one call, of which the newest is passed on. The zero value has none.
type reports struct {
	seen    int // that the guest has made
	newest  abi.Progress
	waiting bool      // newest is to be passed on
	paid    time.Time // when the pace allows for all that were passed on
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
	case c.reports.seen > c.host.limits.HostCalls:
		return c.host.askedTooOften()
	case c.bounds != nil && c.bounds.Err() != nil:
		return c.host.ended(c.bounds)
	}
	return nil
}

// passProgress passes the newest report on, once it may be. It is to be called where the guest goes on for a while.
func (c *Call) passProgress() {
	if !c.reports.waiting {
		return
	}
	if p, ok := c.reports.take(time.Now()); ok {
		c.sink.Progress(p)
	}
}
