package link

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// A link is the parent's end of a connection on which a worker runs one call after the other. The next calls may be sent
// while one is under way. The call whose state is ready reads.
type link struct {
	// fixed at creation
	id       uint32
	set      *Set
	conn     *protocol.Conn
	window   *protocol.Window
	in       *protocol.Receiver
	watchdog *deadline.Watch // runs checkDeadline

	// calls so far
	made             uint64         // how many calls there were
	calls            []*pendingCall // the first is under way, and reads
	queuedBytes      int            // of the others
	abandonedReplies []uint64       // numbers of calls that moved after they were sent; replies are discarded
	queueTimer       *time.Timer    // runs moveWaiting; nil before it is needed
	watched          uint64         // number of the call under way when the timer was set
	isWatched        bool           // the timer is set

	// owned by the call that is ready
	done       protocol.Done
	windowUsed bool      // since it was trimmed
	used       time.Time // when the last call ended

	inParent      atomic.Bool                // the parent works for the call: a service runs, or a client reads slowly
	due           atomic.Int64               // deadline of the call under way, relative to Set.began; 0 for none
	number        atomic.Uint64              // of the call under way, or of the last one
	underWay      atomic.Pointer[guest.Call] // whose deadline may have moved since due was set
	lateChecks    atomic.Int32               // how often checkDeadline has found that call overdue
	overdue       atomic.Bool                // the worker was killed for that call
	checkInterval atomic.Int64               // until checkLongCall runs again, as a duration
	isLong        atomic.Bool                // the call is a reason for the worker to run in the background
	caller        caller
}

var (
	// errLost says that the worker has ended, or was killed, during a call.
	errLost = errors.New("the worker process has ended")
	// errLate says that the worker was killed for a call that had not ended in time.
	errLate = errors.New("worker killed: its call was overdue")
	// errMoved says that a call has not begun, and must take another link.
	errMoved = errors.New("call moved to another link")
)

// await sends the message of c, and waits for a state of c.
func (l *link) await(c *pendingCall) state {
	if !c.first {
		l.flushQueued(c)
		return <-c.state
	}
	if err := l.begin(c); err != nil {
		_ = l.fail(c, err)
		return lost
	}
	if c.shares {
		l.set.share(l)
	}
	return ready
}

// flushQueued sends the message of a call that waits behind others. An error ends the connection: the call that reads then
// fails, and with it all others of the link. A worker that does not read may still send, and then no call under way is
// overdue; so flushQueued kills the worker at the deadline of c.
func (l *link) flushQueued(c *pendingCall) {
	if l.conn.TryFlush() {
		return
	}
	stuck := time.AfterFunc(time.Until(c.call.Deadline())+l.set.cfg.Grace, func() {
		l.set.cfg.Process.Kill()
		l.conn.Shutdown()
	})
	defer stuck.Stop()
	if err := l.conn.Flush(); err != nil {
		l.conn.Shutdown() // a reader that waits has not found the error
	}
}

// begin sends the message of c, which is first on the link.
func (l *link) begin(c *pendingCall) error {
	if l.conn.HasBuffered() {
		return protocol.Errorf("the worker sent something between two calls")
	}
	l.take(c)
	return l.conn.Flush()
}

// take makes c the call under way.
func (l *link) take(c *pendingCall) {
	l.conn.Begin(c.seq)
	l.number.Store(c.seq)
	l.underWay.Store(c.call)
	l.watch(c.call.Deadline())
}

// receive handles the worker's messages until the call is done. A forbidden message of the guest ends the call; the
// worker should find the same error, so receive still waits for its end.
func (l *link) receive(ctx context.Context, c *pendingCall) error {
	if !c.first {
		l.take(c)
	}
	if c.call.Context().Err() != nil { // the caller has gone while the call waited
		l.set.cfg.Process.Cancel(l.id, c.seq)
	}
	began, refused := time.Now(), false
	for {
		kind, payload, err := l.conn.Next()
		if err != nil {
			return l.fail(c, err)
		}
		if kind == protocol.KindDone {
			if err := l.done.Decode(payload); err != nil {
				return l.fail(c, err)
			}
			err := c.finish(&l.done)
			took := c.duration(&l.done, time.Since(began))
			l.done = protocol.Done{}
			l.set.finish(l, took)
			return err
		}
		var handled time.Time
		measured := c.isMeasured(kind)
		if measured {
			handled = time.Now()
		}
		if err := c.handle(ctx, kind, payload); err != nil {
			return l.fail(c, err)
		}
		if l.endIfLate() {
			return l.fail(c, errLate)
		}
		if measured {
			l.charge(c, handled)
		}
		if (c.call.Err() != nil || c.panicked != nil) && !refused {
			refused = true
			l.set.cfg.Process.Cancel(l.id, c.seq)
		}
	}
}

// fail kills the worker. Only the call that is ready may call it.
func (l *link) fail(c *pendingCall, err error) error {
	c.overdue = l.overdue.Load()
	l.set.cfg.Process.Kill()
	l.set.abandon(l)
	l.close()
	return fmt.Errorf("%w: %w", errLost, err)
}

// close releases the link.
func (l *link) close() {
	l.endChecks()
	_ = l.conn.Close() // no call waits for it
	_ = l.window.Close()
}
