package child

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// A connection is the worker's end of a link, on which it runs calls one after the other. It belongs to the goroutine
// that serves it, except for the fields that mu guards.
type connection struct {
	id     uint32
	conn   *protocol.Conn
	window *protocol.Mapping
	out    *protocol.Sender
	done   protocol.Done // of the call under way
	buf    []byte

	ended atomic.Bool // the parent has closed it

	mu        sync.Mutex   // guards the fields below
	seq       uint64       // of the call under way; 0 for none
	call      *callContext // nil for none
	cancelled []uint64     // numbers of cancelled calls that may not have begun
	early     []uint64     // numbers of paused calls that may not have begun

	still standstill
}

// maxCancelled bounds connection.cancelled. The numbers of ended calls leave it when the next call begins.
const maxCancelled = 4 * protocol.MaxQueuedCalls

func newConnection(id uint32, socket, window *os.File) (*connection, error) {
	conn, err := protocol.Open(socket, 0)
	if err != nil {
		return nil, errors.Join(err, window.Close())
	}
	mapping, err := protocol.OpenWindow(window)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	conn.OfferPipes(mapping)
	return &connection{id: id, conn: conn, window: mapping, out: protocol.NewSender(conn, mapping)}, nil
}

// serve runs calls until the parent closes the connection between two calls. The process exits when that is the first
// connection, and when the parent violates the protocol.
func (l *connection) serve(host *guest.Host, guests guest.Guests, idle *idleTimer) {
	for {
		err := l.serveCall(host, guests)
		if errors.Is(err, io.EOF) && l.id != 0 {
			l.end()
			return
		}
		if err != nil {
			os.Exit(1)
		}
		guests.ResetUsed()
		idle.note()
	}
}

// end releases the connection.
func (l *connection) end() {
	_ = l.conn.Close() // the parent has closed it, too
	_ = l.window.Close()
	l.ended.Store(true)
}

// serveCall waits for one call and runs it.
func (l *connection) serveCall(host *guest.Host, guests guest.Guests) error {
	number, payload, err := l.out.NextCall()
	if err != nil {
		return err
	}
	call := protocol.Call{Seq: number}
	if err := call.Decode(payload); err != nil {
		return err
	}
	l.done.SetError(l.run(host, guests, &call))
	if err := l.out.PutMessage(&l.done); err != nil {
		return err
	}
	l.erase()
	return l.out.Flush()
}

// erase removes all data of a call from the connection.
func (l *connection) erase() {
	l.done = protocol.Done{}
	if cap(l.buf) > 2*maxReplyFrame {
		l.buf = nil
	}
	clear(l.buf[:cap(l.buf)])
	l.buf = l.buf[:0]
}

// run runs a call in a guest, and sends its answer.
func (l *connection) run(host *guest.Host, guests guest.Guests, call *protocol.Call) error {
	var req abi.Request
	if err := req.Decode(call.Request); err != nil {
		return abi.Errorf(abi.CodeInvalidParams, "the request is not one that a provider can get").Because(err)
	}
	req.Session = call.Session
	ctx := l.begin(call)
	defer l.endCall(ctx)
	c := host.NewCall(call.Op, &req, linkSink{l})
	c.SetOrigin(call.Origin)
	c.SetGate(l)
	err := c.Run(ctx, guests)
	used := c.Usage(err)
	l.done.Fuel, l.done.HostCalls, l.done.Memory = used.Fuel, uint32(used.HostCalls), used.Memory
	if err != nil {
		return err
	}
	return l.sendReply(c.Reply())
}

// begin returns the context of a call; cancel and endCall end it.
func (l *connection) begin(call *protocol.Call) *callContext {
	ctx := &callContext{link: l, due: time.Now().Add(call.Timeout)}
	ctx.Init(context.Background())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq, l.call = call.Seq, ctx
	if slices.Contains(l.cancelled, call.Seq) {
		ctx.Cancel(nil)
	}
	l.cancelled = slices.DeleteFunc(l.cancelled, func(seq uint64) bool { return seq <= call.Seq })
	l.still.set(slices.Contains(l.early, call.Seq))
	l.early = slices.DeleteFunc(l.early, func(seq uint64) bool { return seq <= call.Seq })
	return ctx
}

// endCall ends a call.
func (l *connection) endCall(ctx *callContext) {
	l.mu.Lock()
	l.seq, l.call = 0, nil
	l.mu.Unlock()
	ctx.Cancel(nil)
}

// cancel ends a call, unless it has ended. It does nothing on a nil connection.
func (l *connection) cancel(seq uint64) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.seq == seq && l.call != nil:
		l.call.Cancel(nil)
		l.still.set(false) // the guest notices the end
	case len(l.cancelled) < maxCancelled: // it has not begun, or has ended
		l.cancelled = append(l.cancelled, seq)
	}
}

// sendFailed reports to the parent why the worker cannot start.
func (l *connection) sendFailed(err error) error {
	var m protocol.Done
	m.SetError(err)
	if m.Message != "" {
		m.Message = err.Error() // the message names the step that failed
	}
	if err := l.out.Put(protocol.KindFailed, m.Append(nil)); err != nil {
		return err
	}
	return l.out.Flush()
}

// ask asks the parent for a service.
func (l *connection) ask(id abi.Service, request []byte) (capability.Response, error) {
	if err := l.out.PutMessage(&protocol.Ask{Service: id, Request: request}); err != nil {
		return capability.Response{}, err
	}
	if err := l.out.Flush(); err != nil {
		return capability.Response{}, err
	}
	var a protocol.Answer
	message, body, err := l.out.NextAnswer(&a, nil, nil)
	if err != nil {
		return capability.Response{}, err
	}
	if a.Code != abi.CodeOK {
		return capability.Response{}, &abi.Error{Code: a.Code}
	}
	return capability.Response{Message: message, Body: body}, nil
}

// sendChanged queues a notice of the guest. It is sent with the next message.
func (l *connection) sendChanged(uri string) {
	_ = l.out.Put(protocol.KindChanged, []byte(uri)) // a connection that fails keeps failing
}
