package worker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/worker/wire"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability"
)

// A link is the parent's end of a connection on which a worker does one call after the other. It belongs to one
// goroutine at a time.
type link struct {
	// fixed at creation
	id       uint32
	worker   *worker
	conn     *wire.Conn
	window   *wire.Window
	in       *wire.Receiver
	watchdog *time.Timer

	call    wire.Call
	done    wire.Done
	request []byte
	heard   bool  // the guest has answered something in the call under way
	failure error // a panic of ours in the call under way
	wide    bool  // the window was used since it was trimmed
	used    time.Time

	hearing atomic.Bool  // this process is at work for the call: what that takes is not the worker's fault
	due     atomic.Int64 // when the call under way must have ended, as time since the worker began; 0 for none
	barks   atomic.Int32 // how often the watchdog has found the call under way overdue
	overdue atomic.Bool  // the worker was killed for it
}

// errLost says that the worker has ended, or was killed, during a call.
var errLost = errors.New("the worker is gone")

// serve has the worker do c. It fails with errLost when the link, and the worker with it, is of no more use.
func (l *link) serve(ctx context.Context, c *runtime.Call) error {
	defer l.rest()
	if err := l.ask(c); err != nil {
		return err
	}
	seq := l.call.Seq
	// The deadline the worker notices by itself, and calls by its name.
	stop := context.AfterFunc(c.Context(), func() { l.worker.cancel(l.id, seq) })
	defer stop()
	return l.listen(ctx, c)
}

// ask sends the call.
func (l *link) ask(c *runtime.Call) (err error) {
	if l.request, err = c.Encode(l.request[:0]); err != nil {
		return err
	}
	l.heard, l.failure = false, nil
	l.in.Reset()
	l.call = wire.Call{
		Seq: l.call.Seq + 1, Op: c.Op, Timeout: max(0, time.Until(c.Deadline())), Session: c.Request.Session, Request: l.request,
	}
	if l.conn.Ahead() {
		return l.lost(wire.Protocolf("the worker answers what it was not asked"))
	}
	if len(l.call.Session) > wire.MaxSession {
		return abi.Errorf(abi.CodeInvalidParams, "the session's name has more than the %d bytes that are allowed", wire.MaxSession)
	}
	l.watch(c.Deadline())
	l.conn.PutMessage(&l.call)
	if err := l.conn.Flush(); err != nil {
		return l.lost(err)
	}
	return nil
}

// listen hears what the worker says until the call is done. What the guest must not have said ends the call, but the
// worker is let finish, since it will say the same.
func (l *link) listen(ctx context.Context, c *runtime.Call) error {
	refused := false
	for {
		kind, payload, err := l.conn.Next()
		if err != nil {
			return l.lost(err)
		}
		if kind == wire.KindDone {
			return l.finish(c, payload)
		}
		if err := l.hear(ctx, c, kind, payload); err != nil {
			return l.lost(err)
		}
		if (c.Err() != nil || l.failure != nil) && !refused {
			refused = true
			l.worker.cancel(l.id, l.call.Seq)
		}
	}
}

// hear takes one message of a call.
func (l *link) hear(ctx context.Context, c *runtime.Call, kind wire.Kind, payload []byte) error {
	switch kind {
	case wire.KindFrame:
		l.heard = true
		l.guard(func() { c.Emit(payload) })
	case wire.KindBody:
		l.heard = true
		l.push(c, payload)
	case wire.KindChunk:
		l.heard, l.wide = true, true
		return l.in.Chunk(payload, func(p []byte) error { l.push(c, p); return nil })
	case wire.KindAsk:
		return l.answer(ctx, c, payload)
	case wire.KindChanged:
		notify, request := abi.ServiceNotifyUpdated, (&abi.NotifyRequest{URI: string(payload)}).Append(nil)
		if len(payload) == 0 {
			notify, request = abi.ServiceNotifyList, nil
		}
		l.guard(func() { c.Service(ctx, notify, request) }) // a worker that was asked answers the guest itself
	case wire.KindLog:
		return record(ctx, c, payload)
	default:
		return l.conn.Unexpected(kind)
	}
	return nil
}

// push hands on bytes of a content. Who takes them may have kept the guest waiting.
func (l *link) push(c *runtime.Call, p []byte) {
	l.guard(func() { c.Body(p) })
	l.due.Store(int64(c.Deadline().Sub(l.worker.began)))
}

// guard hands on what the guest says. A panic in there is ours: it is the failure of the call, which hears no more.
func (l *link) guard(hand func()) {
	if l.failure != nil {
		return
	}
	l.hearing.Store(true)
	defer func() {
		l.hearing.Store(false)
		if p := recover(); p != nil {
			l.failure = (&abi.Error{Code: abi.CodeInternal}).Because(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	hand()
}

// answer does what a guest asks of a service, if it may ask that.
func (l *link) answer(ctx context.Context, c *runtime.Call, payload []byte) error {
	var ask wire.Ask
	if err := ask.Decode(payload); err != nil {
		return err
	}
	resp, code := capability.Response{}, abi.CodeInternal
	l.guard(func() { resp, code = c.Service(ctx, ask.Service, ask.Request) })
	waited := uint32(min(c.Waited().Milliseconds(), math.MaxUint32))
	answer := wire.Answer{Code: code, Waited: waited, Message: resp.Message}
	if len(resp.Body) > wire.MaxAnswerBody || answer.Check() != nil {
		answer, resp.Body = wire.Answer{Code: abi.CodeTooLarge, Waited: waited}, nil
	}
	return l.conn.SendAnswer(&answer, resp.Body)
}

// finish ends a call as the worker says.
func (l *link) finish(c *runtime.Call, payload []byte) error {
	if err := l.done.Decode(payload); err != nil {
		return l.lost(err)
	}
	c.Spent(l.done.Fuel, int(l.done.HostCalls))
	if l.failure != nil {
		return l.failure
	}
	return quote(&l.done)
}

// lost gives the worker up: it has ended, or says what it must not.
func (l *link) lost(err error) error {
	l.worker.process.Kill()
	return fmt.Errorf("%w: %w", errLost, err)
}

// close releases the link.
func (l *link) close() {
	l.watchdog.Stop()
	_ = l.conn.Close() // nothing is lost that anybody waits for
	_ = l.window.Close()
}
