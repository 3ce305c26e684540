package fastpath

import (
	"errors"
	"math"
	"net"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/deadline"
)

// pollInterval is the time between two polls of a disconnectWatch.
const pollInterval = 25 * time.Millisecond

var errClientGone = errors.New("the client has closed the connection")

// A disconnectWatch cancels a request whose client closes the connection while it waits for the answer. It polls while
// there are requests; most are answered before it looks. A timer for each request would cost as much as parsing it.
type disconnectWatch struct {
	timer   *time.Timer                         // nil before the first request
	set     atomic.Bool                         // timer runs
	request atomic.Pointer[deadline.Cancelable] // that is under way; nil for none
	seen    *deadline.Cancelable                // what request was at the last poll; owned by poll
}

// begin cancels a request when the client at the other end of c closes the connection, until end. A Cancelable is never that of two
// requests, by which poll tells them apart.
func (d *disconnectWatch) begin(request *deadline.Cancelable, c net.Conn) {
	d.request.Store(request)
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

func (d *disconnectWatch) end() { d.request.Store(nil) }

// poll looks at the connection of a client that has waited since the last poll.
func (d *disconnectWatch) poll(c net.Conn) {
	request := d.request.Load()
	switch {
	case request == nil:
		d.seen = nil
		d.set.Store(false)
		if d.request.Load() != nil { // begun just now
			d.start()
		}
		return
	case request == d.seen && isClosed(c):
		request.Cancel(errClientGone)
	}
	d.seen = request
	d.timer.Reset(pollInterval)
}
