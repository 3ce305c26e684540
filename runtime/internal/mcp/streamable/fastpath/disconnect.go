package fastpath

import (
	"context"
	"errors"
	"math"
	"net"
	"sync/atomic"
	"time"
)

// pollInterval is the time between two polls of a disconnectWatch.
const pollInterval = 25 * time.Millisecond

var errClientGone = errors.New("the client has closed the connection")

// A disconnectWatch cancels a request whose client closes the connection while it waits for the answer. It polls while
// there are requests; most are answered before it looks. A timer for each request would cost as much as parsing it.
type disconnectWatch struct {
	timer  *time.Timer                             // nil before the first request
	set    atomic.Bool                             // timer runs
	cancel atomic.Pointer[context.CancelCauseFunc] // of the request under way; nil for none
	seen   *context.CancelCauseFunc                // what cancel was at the last poll; owned by poll
}

// begin calls cancel when the client at the other end of c closes the connection, until end.
func (d *disconnectWatch) begin(cancel *context.CancelCauseFunc, c net.Conn) {
	d.cancel.Store(cancel)
	if d.timer == nil {
		d.timer = time.AfterFunc(math.MaxInt64, func() { d.poll(c) })
	}
	d.start()
}

func (d *disconnectWatch) start() {
	if !d.set.Load() && d.set.CompareAndSwap(false, true) {
		d.timer.Reset(pollInterval)
	}
}

func (d *disconnectWatch) end() { d.cancel.Store(nil) }

// poll looks at the connection of a client that has waited since the last poll.
func (d *disconnectWatch) poll(c net.Conn) {
	cancel := d.cancel.Load()
	switch {
	case cancel == nil:
		d.seen = nil
		d.set.Store(false)
		if d.cancel.Load() != nil { // begun just now
			d.start()
		}
		return
	case cancel == d.seen && isClosed(c):
		(*cancel)(errClientGone)
	}
	d.seen = cancel
	d.timer.Reset(pollInterval)
}
