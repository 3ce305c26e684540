package worker

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/worker/wire"
)

// A link is the parent's end of a connection on which a worker does one call after the other. The next ones may be on
// their way while one is under way, so that neither process has to sleep in between. It is read by whose turn it is.
type link struct {
	// fixed at creation
	id       uint32
	worker   *worker
	conn     *wire.Conn
	window   *wire.Window
	in       *wire.Receiver
	watchdog *time.Timer

	// guarded by links.mu
	seq     uint64      // of the last call
	trips   []*trip     // the first is under way, and reads
	ahead   int         // bytes of the others
	strays  int         // calls that were sent before they went elsewhere: what the worker says of them is for nobody
	lookout *time.Timer // for calls that wait behind a long one; nil before it is needed
	seen    uint64      // seq of the call under way when the lookout was set
	looking bool        // it is set

	// owned by whose turn it is
	done wire.Done
	wide bool // the window was used since it was trimmed
	used time.Time

	hearing atomic.Bool  // this process is at work for the call: what that takes is not the worker's fault
	due     atomic.Int64 // when the call under way must have ended, as time since the worker began; 0 for none
	barks   atomic.Int32 // how often the watchdog has found the call under way overdue
	overdue atomic.Bool  // the worker was killed for it
	glance  atomic.Int64 // how long the call under way is left alone before somebody looks, as a duration
	aside   atomic.Bool  // it is a reason for the worker to stand aside
}

var (
	// errLost says that the worker has ended, or was killed, during a call.
	errLost = errors.New("the worker is gone")
	// errElsewhere says that a call has not begun, and takes another link.
	errElsewhere = errors.New("another link is to be taken")
)

// await sends what is to be sent for t, and waits for its turn.
func (l *link) await(t *trip) turn {
	if !t.first {
		l.send(t)
		return <-t.turn
	}
	if err := l.begin(t); err != nil {
		_ = l.lost(t, err)
		return over
	}
	if t.shares {
		l.worker.links.share(l)
	}
	return itsTurn
}

// send sends what is to be sent for t, behind others. Where it fails, reading does. A worker that reads nothing may answer
// all the same, so that nobody watches: it is killed when t must have ended.
func (l *link) send(t *trip) {
	stuck := time.AfterFunc(time.Until(t.call.Deadline())+l.worker.runner.cfg.Grace, func() {
		l.worker.process.Kill()
		l.conn.Shut()
	})
	defer stuck.Stop()
	_ = l.conn.Flush()
}

// begin sends what is to be sent for t, with nobody before it.
func (l *link) begin(t *trip) error {
	if l.conn.Ahead() {
		return wire.Protocolf("the worker answers what it was not asked")
	}
	l.watch(t.call.Deadline())
	return l.conn.Flush()
}

// listen hears what the worker says until the call is done. What the guest must not have said ends the call, but the
// worker is let finish, since it will say the same.
func (l *link) listen(ctx context.Context, t *trip) error {
	if !t.first {
		l.watch(t.call.Deadline())
	}
	began, refused := time.Now(), false
	for {
		kind, payload, err := l.conn.Next()
		if err != nil {
			return l.lost(t, err)
		}
		if kind == wire.KindDone {
			if err := l.done.Decode(payload); err != nil {
				return l.lost(t, err)
			}
			err := t.finish(&l.done)
			l.worker.links.leave(l, t.took(&l.done, time.Since(began)))
			return err
		}
		if err := t.hear(ctx, kind, payload); err != nil {
			return l.lost(t, err)
		}
		if (t.call.Err() != nil || t.failure != nil) && !refused {
			refused = true
			l.worker.cancel(l.id, t.seq)
		}
	}
}

// lost gives the worker up, on t's turn: it has ended, or says what it must not.
func (l *link) lost(t *trip, err error) error {
	t.overdue = l.overdue.Load()
	l.worker.process.Kill()
	l.worker.links.abandon(l)
	l.close()
	return fmt.Errorf("%w: %w", errLost, err)
}

// drainTime is how long a worker may take to say of calls that went elsewhere that they are cancelled.
const drainTime = time.Second

// drain hears what the worker has to say of calls that went elsewhere.
func (l *link) drain(calls int) {
	l.watch(time.Now().Add(min(drainTime, l.worker.guests.order.Limits.Timeout)))
	for calls > 0 {
		kind, payload, err := l.conn.Next()
		if err == nil {
			err = l.ignore(kind, payload)
		}
		if err != nil {
			_ = l.lost(&trip{}, err)
			return
		}
		if kind == wire.KindDone {
			calls--
		}
	}
	l.rest()
	l.worker.links.drained(l)
}

// ignore takes one message of a call that went elsewhere.
func (l *link) ignore(kind wire.Kind, payload []byte) error {
	switch kind {
	case wire.KindFrame, wire.KindBody, wire.KindChanged, wire.KindLog, wire.KindDone:
		return nil
	case wire.KindChunk:
		l.wide = true
		return l.in.Chunk(payload, nil)
	case wire.KindAsk:
		return l.conn.SendAnswer(&wire.Answer{Code: abi.CodeUnavailable}, nil)
	}
	return l.conn.Unexpected(kind)
}

// close releases the link.
func (l *link) close() {
	l.due.Store(0) // a bark under way is the last
	l.watchdog.Stop()
	_ = l.conn.Close() // nothing is lost that anybody waits for
	_ = l.window.Close()
}
