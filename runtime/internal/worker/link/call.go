package link

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// Call runs c in the worker. The error of a call that lost the worker is a [*LostError].
func (s *Set) Call(ctx context.Context, c *guest.Call) error {
	p, err := newPendingCall(c)
	if err != nil {
		return err
	}
	defer p.release()
	err = s.run(ctx, p)
	if errors.Is(err, errLost) {
		return &LostError{Overdue: p.overdue, Answered: p.answered, Changed: p.changed, Err: err}
	}
	return err
}

// run runs a call on a link, and on another one when it must move.
func (s *Set) run(ctx context.Context, p *pendingCall) error {
	for {
		if err := s.assign(p); err != nil {
			return fmt.Errorf("open a link to the worker: %w", err)
		}
		err := p.run(ctx)
		if !errors.Is(err, errMoved) {
			return err
		}
		p.shares = false
	}
}

// A pendingCall is a call that a worker runs or will run. It belongs to the goroutine that makes the call.
type pendingCall struct {
	call    *guest.Call
	request []byte
	message protocol.Call
	shares  bool // it may wait behind others on a link

	link        *link // it is on
	seq         uint64
	first       bool          // no other call was on the link
	answered    bool          // the guest has answered something
	changed     bool          // the guest has asked a service for something that may change something
	overdue     bool          // the worker was killed for it
	panicked    error         // a panic of the parent
	timeOutside time.Duration // the time of services and clients
	messages    int           // received so far

	state chan state // of one
}

// A state is the state of a call that waits behind others.
type state uint8

const (
	ready state = iota + 1 // the others have ended: it may read
	moved                  // the call under way takes long: this one must take another link
	lost                   // the worker has ended
)

var pendingCalls = sync.Pool{New: func() any { return &pendingCall{state: make(chan state, 1)} }}

// newPendingCall encodes a call. The caller must release it.
func newPendingCall(c *guest.Call) (p *pendingCall, err error) {
	p = pendingCalls.Get().(*pendingCall)
	if p.request, err = c.Encode(p.request[:0]); err != nil {
		p.release()
		return nil, err
	}
	if n := len(c.Request.Session); n > protocol.MaxSession {
		p.release()
		return nil, abi.Errorf(abi.CodeInvalidParams, "the session's name has more than the %d bytes that are allowed", protocol.MaxSession)
	}
	p.call, p.shares, p.answered, p.changed, p.overdue, p.panicked, p.timeOutside = c, true, false, false, false, nil, 0
	p.messages = 0
	return p, nil
}

// release erases the call from p, and makes p available to calls of other modules.
func (p *pendingCall) release() {
	clear(p.request)
	p.request = p.request[:0]
	p.call, p.link, p.panicked, p.message = nil, nil, nil, protocol.Call{}
	pendingCalls.Put(p)
}

// encode returns the message of the call. It is called just before the message is sent.
func (p *pendingCall) encode() *protocol.Call {
	c := p.call
	p.message = protocol.Call{
		Seq: p.seq, Op: c.Op, Timeout: max(0, time.Until(c.Deadline())), Origin: c.Origin(), Session: c.Request.Session, Request: p.request,
	}
	return &p.message
}

// size bounds the message of the call, in bytes.
func (p *pendingCall) size() int { return len(p.request) + protocol.MaxSession + 96 }

// run waits until the call is ready on its link, and handles the worker's messages. The error is errLost when the
// worker is lost, and errMoved when the call must take another link.
func (p *pendingCall) run(ctx context.Context) error {
	l := p.link
	p.call.SetPauser(p)
	defer p.call.SetPauser(nil)
	switch l.await(p) {
	case moved:
		return errMoved
	case lost:
		return errLost
	}
	return l.receive(ctx, p)
}

// Pause implements [guest.Pauser].
func (p *pendingCall) Pause(on bool) { p.link.set.cfg.Process.Pause(p.link.id, p.seq, on) }

// handle handles one message of a call.
func (p *pendingCall) handle(ctx context.Context, kind protocol.Kind, payload []byte) error {
	c, l := p.call, p.link
	switch kind {
	case protocol.KindFrame:
		p.answered = true
		p.deliver(func() { c.Emit(payload) })
	case protocol.KindBody:
		p.answered = true
		p.push(payload)
	case protocol.KindChunk:
		p.answered, l.windowUsed = true, true
		defer p.startTimeOutside()()
		return l.in.Chunk(payload, func(b []byte) error { p.push(b); return nil })
	case protocol.KindAsk:
		defer p.startTimeOutside()()
		return p.ask(ctx, payload)
	case protocol.KindChanged:
		notify, request := abi.ServiceNotifyUpdated, (&abi.NotifyRequest{URI: string(payload)}).Append(nil)
		if len(payload) == 0 {
			notify, request = abi.ServiceNotifyList, nil
		}
		p.protect(func() { c.Service(ctx, notify, request) }) // the worker has answered the guest itself
	case protocol.KindLog:
		return logRecord(ctx, c, payload)
	default:
		return l.conn.Unexpected(kind)
	}
	return nil
}

// startTimeOutside begins to count time as that of services and clients, until stop is called.
func (p *pendingCall) startTimeOutside() (stop func()) {
	began := time.Now()
	return func() { p.timeOutside += time.Since(began) }
}

// fuelTime is about how long a guest computes with a million of fuel.
const fuelTime = 250 * time.Microsecond

// maxUnexplained is the most that the wall time of a call counts if neither fuel nor services explain it: a busy machine stops
// many calls, and links should be shared there more than ever. Calls still count as slow if most of them last that long.
const maxUnexplained = 500 * time.Microsecond

// duration returns how long the call has taken, of a wall time of lasted. It leaves out short times in which the
// machine did other work, since calls should share links more on a busy machine. The worker states the fuel.
func (p *pendingCall) duration(done *protocol.Done, lasted time.Duration) time.Duration {
	took := p.timeOutside + time.Duration(min(done.Fuel, 1e9))*fuelTime/1e6
	if lasted > maxQueueTime/2 {
		took = max(took, min(lasted, maxUnexplained))
	}
	return took
}

// push passes bytes of a content on.
func (p *pendingCall) push(b []byte) { p.deliver(func() { p.call.Body(b) }) }

// deliver passes an answer of the guest on. If the client kept the guest waiting, it extends the deadline of the call.
func (p *pendingCall) deliver(answer func()) {
	p.protect(func() {
		answer()
		p.link.due.Store(int64(p.call.Deadline().Sub(p.link.set.began)))
	})
}

// protect runs do. A panic of it is the parent's fault, and fails the call: later messages of the call are discarded.
func (p *pendingCall) protect(do func()) {
	if p.panicked != nil {
		return
	}
	p.link.inParent.Store(true)
	defer func() {
		p.link.inParent.Store(false)
		if v := recover(); v != nil {
			p.panicked = guest.PanicError(v)
		}
	}()
	do()
}

// ask calls a service for the guest, if that is granted.
func (p *pendingCall) ask(ctx context.Context, payload []byte) error {
	var ask protocol.Ask
	if err := ask.Decode(payload); err != nil {
		return err
	}
	p.changed = p.changed || !p.call.MayRepeat(ask.Service, ask.Request)
	resp, code := capability.Response{}, abi.CodeInternal
	p.protect(func() { resp, code = p.call.Service(ctx, ask.Service, ask.Request) })
	waited := uint32(min(p.call.Blocked().Milliseconds(), math.MaxUint32))
	answer := protocol.Answer{Code: code, Blocked: waited, Message: resp.Message}
	if len(resp.Body) > protocol.MaxAnswerBody || answer.Check() != nil {
		answer, resp.Body = protocol.Answer{Code: abi.CodeTooLarge, Blocked: waited}, nil
	}
	return p.link.conn.SendAnswer(&answer, resp.Body)
}

// finish returns the error of the call, from the worker's last message.
func (p *pendingCall) finish(done *protocol.Done) error {
	p.call.SetUsage(done.Fuel, int(done.HostCalls), done.Memory)
	if p.panicked != nil {
		return p.panicked
	}
	if done.Code == abi.CodeCancelled && p.call.Err() != nil {
		p.call.Interrupt()
		done.Stack = nil // the parent stopped the guest, so its stack is not that of a crash
	}
	return errorOf(done)
}
