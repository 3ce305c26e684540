package streamable

import (
	"context"
	"errors"
	"math"
	"net"
	"sync/atomic"
	"time"
)

// glance is how often it is looked whether a client that waits is still there.
const glance = 25 * time.Millisecond

var errLeft = errors.New("the client has gone")

// A peer notices that a client went away while it waited for an answer. Most answers come before it looks, which it does
// at even times while there are requests: to set a timer for each would cost as much as parsing it.
type peer struct {
	timer  *time.Timer                             // nil before the first request
	set    atomic.Bool                             // timer is
	cancel atomic.Pointer[context.CancelCauseFunc] // of the request under way; nil for none
	seen   *context.CancelCauseFunc                // the one before, when it was last looked; owned by look
}

// watch has cancel called when the client at the other end of c goes away, until rest.
func (p *peer) watch(cancel *context.CancelCauseFunc, c net.Conn) {
	p.cancel.Store(cancel)
	if p.timer == nil {
		p.timer = time.AfterFunc(math.MaxInt64, func() { p.look(c) })
	}
	p.wake()
}

func (p *peer) wake() {
	if !p.set.Load() && p.set.CompareAndSwap(false, true) {
		p.timer.Reset(glance)
	}
}

// rest says that nobody waits.
func (p *peer) rest() { p.cancel.Store(nil) }

// look looks whether a client that waits since the last time is still there.
func (p *peer) look(c net.Conn) {
	cancel := p.cancel.Load()
	switch {
	case cancel == nil:
		p.seen = nil
		p.set.Store(false)
		if p.cancel.Load() != nil { // since just now
			p.wake()
		}
		return
	case cancel == p.seen && hasLeft(c):
		(*cancel)(errLeft)
	}
	p.seen = cancel
	p.timer.Reset(glance)
}
