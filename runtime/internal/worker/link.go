package worker

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// A link is the parent's end of a connection on which a worker does one call after the other. The next ones may be on
// their way while one is under way, so that neither process has to sleep in between. It is read by whose turn it is.
type link struct {
	// fixed at creation
	id       uint32
	worker   *worker
	conn     *protocol.Conn
	window   *protocol.Window
	in       *protocol.Receiver
	watchdog *time.Timer

	// guarded by links.mu
	calls   uint64      // how many there were
	trips   []*trip     // the first is under way, and reads
	ahead   int         // bytes of the others
	strays  []uint64    // numbers of calls that were sent before they went elsewhere: what the worker says of them is ignored
	lookout *time.Timer // for calls that wait behind a long one; nil before it is needed
	seen    uint64      // seq of the call under way when the lookout was set
	looking bool        // it is set

	// owned by whose turn it is
	done protocol.Done
	wide bool // the window was used since it was trimmed
	used time.Time

	hearing atomic.Bool  // this process is at work for the call: a service, or a client that takes its time
	due     atomic.Int64 // when the call under way must have ended, as time since the worker began; 0 for none
	late    atomic.Int32 // how often the watchdog has found the call under way overdue
	overdue atomic.Bool  // the worker was killed for it
	glance  atomic.Int64 // how long the call under way is left alone before somebody looks, as a duration
	aside   atomic.Bool  // it is a reason for the worker to stand aside
}

var (
	// errLost says that the worker has ended, or was killed, during a call.
	errLost = errors.New("the worker is gone")
	// errLate says that the worker was ended since it kept this process busy.
	errLate = errors.New("the worker was killed: its call was overdue")
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
		l.conn.Shutdown()
	})
	defer stuck.Stop()
	_ = l.conn.Flush()
}

// begin sends what is to be sent for t, with nobody before it.
func (l *link) begin(t *trip) error {
	if l.conn.HasBuffered() {
		return protocol.Errorf("the worker answers what it was not asked")
	}
	l.conn.Begin(t.seq)
	l.watch(t.call.Deadline())
	return l.conn.Flush()
}

// listen hears what the worker says until the call is done. What the guest must not have said ends the call, but the
// worker is let finish, since it will say the same.
func (l *link) listen(ctx context.Context, t *trip) error {
	if !t.first {
		l.conn.Begin(t.seq)
		l.watch(t.call.Deadline())
	}
	began, refused := time.Now(), false
	for {
		kind, payload, err := l.conn.Next()
		if err != nil {
			return l.lost(t, err)
		}
		if kind == protocol.KindDone {
			if err := l.done.Decode(payload); err != nil {
				return l.lost(t, err)
			}
			err := t.finish(&l.done)
			took := t.took(&l.done, time.Since(began))
			l.done = protocol.Done{}
			l.worker.links.leave(l, took)
			return err
		}
		var heard time.Time
		measured := t.measured(kind)
		if measured {
			heard = time.Now()
		}
		if err := t.hear(ctx, kind, payload); err != nil {
			return l.lost(t, err)
		}
		if l.check() {
			return l.lost(t, errLate)
		}
		if measured {
			l.pay(t, heard)
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
func (l *link) drain(calls []uint64) {
	l.watch(time.Now().Add(min(drainTime, l.worker.guests.order.Limits.Timeout)))
	for _, number := range calls {
		l.conn.Begin(number)
		if err := l.skip(); err != nil {
			_ = l.lost(&trip{}, err)
			return
		}
	}
	l.rest()
	l.worker.links.drained(l)
}

// skip reads what the worker says of one call.
func (l *link) skip() error {
	for {
		kind, payload, err := l.conn.Next()
		if err == nil {
			err = l.ignore(kind, payload)
		}
		if err != nil || kind == protocol.KindDone {
			return err
		}
	}
}

// ignore takes one message of a call that went elsewhere.
func (l *link) ignore(kind protocol.Kind, payload []byte) error {
	switch kind {
	case protocol.KindFrame, protocol.KindBody, protocol.KindChanged, protocol.KindLog, protocol.KindDone:
		return nil
	case protocol.KindChunk:
		l.wide = true
		return l.in.Chunk(payload, nil)
	case protocol.KindAsk:
		return l.conn.SendAnswer(&protocol.Answer{Code: abi.CodeUnavailable}, nil)
	}
	return l.conn.Unexpected(kind)
}

// close releases the link.
func (l *link) close() {
	l.due.Store(0) // the watchdog does nothing more
	l.watchdog.Stop()
	_ = l.conn.Close() // nothing is lost that anybody waits for
	_ = l.window.Close()
}
