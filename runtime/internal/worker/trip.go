package worker

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/sandbox"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// A trip is one call's way to the worker and back. It belongs to the goroutine that makes the call.
type trip struct {
	call    *sandbox.Call
	request []byte
	told    protocol.Call
	shares  bool // it may wait behind others for its turn on a link

	link     *link // what it is on
	seq      uint64
	first    bool          // no other trip was on the link
	heard    bool          // the guest has answered something
	changes  bool          // the guest has asked a service for what may change something
	overdue  bool          // the worker was killed for it
	failure  error         // a panic of ours
	others   time.Duration // what services and clients took
	messages int           // that were heard

	turn chan turn // of one
}

// A turn is what becomes of a trip that waits behind others.
type turn uint8

const (
	itsTurn   turn = iota + 1 // the others have ended
	elsewhere                 // the one under way takes long: this one is to take another link
	over                      // the worker is gone
)

var trips = sync.Pool{New: func() any { return &trip{turn: make(chan turn, 1)} }}

// newTrip prepares a call for its way, to be released.
func newTrip(c *sandbox.Call) (t *trip, err error) {
	t = trips.Get().(*trip)
	if t.request, err = c.Encode(t.request[:0]); err != nil {
		t.release()
		return nil, err
	}
	if n := len(c.Request.Session); n > protocol.MaxSession {
		t.release()
		return nil, abi.Errorf(abi.CodeInvalidParams, "the session's name has more than the %d bytes that are allowed", protocol.MaxSession)
	}
	t.call, t.shares, t.heard, t.changes, t.overdue, t.failure, t.others = c, true, false, false, false, nil, 0
	t.messages = 0
	return t, nil
}

// release leaves nothing of the call in the trip, which is then used for calls of other modules.
func (t *trip) release() {
	clear(t.request)
	t.request = t.request[:0]
	t.call, t.link, t.failure, t.told = nil, nil, nil, protocol.Call{}
	trips.Put(t)
}

// tell gives what the worker is told. It is made when that is on its way.
func (t *trip) tell() *protocol.Call {
	c := t.call
	t.told = protocol.Call{
		Seq: t.seq, Op: c.Op, Timeout: max(0, time.Until(c.Deadline())), Session: c.Request.Session, Request: t.request,
	}
	return &t.told
}

// size bounds what the worker is told, in bytes.
func (t *trip) size() int { return len(t.request) + protocol.MaxSession + 64 }

// travel waits for the trip's turn on its link and hears what the worker has to say. It fails with errLost when the link,
// and the worker with it, is of no more use, and with errElsewhere when it is to take another.
func (t *trip) travel(ctx context.Context) error {
	l, seq := t.link, t.seq
	// The deadline the worker notices by itself, and calls by its name.
	stop := context.AfterFunc(t.call.Context(), func() { l.worker.cancel(l.id, seq) })
	defer stop()
	switch l.await(t) {
	case elsewhere:
		return errElsewhere
	case over:
		return errLost
	}
	return l.listen(ctx, t)
}

// hear takes one message of a call.
func (t *trip) hear(ctx context.Context, kind protocol.Kind, payload []byte) error {
	c, l := t.call, t.link
	switch kind {
	case protocol.KindFrame:
		t.heard = true
		t.hand(func() { c.Emit(payload) })
	case protocol.KindBody:
		t.heard = true
		t.push(payload)
	case protocol.KindChunk:
		t.heard, l.wide = true, true
		defer t.clock()()
		return l.in.Chunk(payload, func(p []byte) error { t.push(p); return nil })
	case protocol.KindAsk:
		defer t.clock()()
		return t.answer(ctx, payload)
	case protocol.KindChanged:
		notify, request := abi.ServiceNotifyUpdated, (&abi.NotifyRequest{URI: string(payload)}).Append(nil)
		if len(payload) == 0 {
			notify, request = abi.ServiceNotifyList, nil
		}
		t.guard(func() { c.Service(ctx, notify, request) }) // a worker that was asked answers the guest itself
	case protocol.KindLog:
		return record(ctx, c, payload)
	default:
		return l.conn.Unexpected(kind)
	}
	return nil
}

// clock adds the time until what it gives is called to that of others.
func (t *trip) clock() (stop func()) {
	began := time.Now()
	return func() { t.others += time.Since(began) }
}

// fuelTime is about how long a guest computes with a million of fuel.
const fuelTime = 250 * time.Microsecond

// took is what the call has taken, in all of lasted. That the machine was busy is left out, as far as it is bearable: it
// would be the dearer to wait for each other the more there is to do. The fuel is what the worker says.
func (t *trip) took(done *protocol.Done, lasted time.Duration) time.Duration {
	took := t.others + time.Duration(min(done.Fuel, 1e9))*fuelTime/1e6
	if lasted > stall/2 {
		took = max(took, lasted)
	}
	return took
}

// push hands on bytes of a content.
func (t *trip) push(p []byte) { t.hand(func() { t.call.Body(p) }) }

// hand hands on what the guest has answered. The client that takes it may have kept the guest waiting, so that the call
// has longer.
func (t *trip) hand(answer func()) {
	t.guard(func() {
		answer()
		t.link.due.Store(int64(t.call.Deadline().Sub(t.link.worker.began)))
	})
}

// guard does what the guest has asked for. A panic in there is ours: it is the failure of the call, which hears no more.
func (t *trip) guard(do func()) {
	if t.failure != nil {
		return
	}
	t.link.hearing.Store(true)
	defer func() {
		t.link.hearing.Store(false)
		if p := recover(); p != nil {
			t.failure = (&abi.Error{Code: abi.CodeInternal}).Because(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	do()
}

// answer does what a guest asks of a service, if it may ask that.
func (t *trip) answer(ctx context.Context, payload []byte) error {
	var ask protocol.Ask
	if err := ask.Decode(payload); err != nil {
		return err
	}
	t.changes = t.changes || !t.call.MayRepeat(ask.Service, ask.Request)
	resp, code := capability.Response{}, abi.CodeInternal
	t.guard(func() { resp, code = t.call.Service(ctx, ask.Service, ask.Request) })
	waited := uint32(min(t.call.Waited().Milliseconds(), math.MaxUint32))
	answer := protocol.Answer{Code: code, Waited: waited, Message: resp.Message}
	if len(resp.Body) > protocol.MaxAnswerBody || answer.Check() != nil {
		answer, resp.Body = protocol.Answer{Code: abi.CodeTooLarge, Waited: waited}, nil
	}
	return t.link.conn.SendAnswer(&answer, resp.Body)
}

// finish ends a call as the worker says.
func (t *trip) finish(done *protocol.Done) error {
	t.call.SetUsage(done.Fuel, int(done.HostCalls))
	if t.failure != nil {
		return t.failure
	}
	if done.Code == abi.CodeCancelled && t.call.Err() != nil {
		done.Stack = nil // where it was, when we had it stopped for what it had said, is no crash
	}
	return quote(done)
}
