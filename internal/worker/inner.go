package worker

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/worker/protocol"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability"
)

// inner is the worker's end of a link, on which one call after the other is done. It belongs to the goroutine that
// serves it, but for what mu guards.
type inner struct {
	id   uint32
	out  *protocol.Sender
	done protocol.Done // of the call under way
	buf  []byte

	mu   sync.Mutex // guards the fields below
	seq  uint64     // of the call under way; 0 for none
	stop context.CancelFunc
	over []uint64 // of calls that were cancelled, perhaps before they have begun
}

// maxOver is how many calls of a link may be cancelled that have not begun. Those that have ended are forgotten with the
// next call.
const maxOver = 4 * protocol.MaxQueuedCalls

func openLink(id uint32, socket, window *os.File) (*inner, error) {
	conn, err := protocol.Open(socket, 0)
	if err != nil {
		return nil, errors.Join(err, window.Close())
	}
	mapping, err := protocol.OpenWindow(window)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &inner{id: id, out: protocol.NewSender(conn, mapping)}, nil
}

// serve does calls until the parent is gone, or says what it must not, which is the end of the process: there is
// nobody left to work for.
func (l *inner) serve(host *runtime.Host, guests runtime.Guests) {
	for {
		if err := l.next(host, guests); err != nil {
			os.Exit(1)
		}
		guests.Settle()
	}
}

// next does one call.
func (l *inner) next(host *runtime.Host, guests runtime.Guests) error {
	number, payload, err := l.out.NextCall()
	if err != nil {
		return err
	}
	call := protocol.Call{Seq: number}
	if err := call.Decode(payload); err != nil {
		return err
	}
	l.done.SetError(l.do(host, guests, &call))
	if err := l.out.PutMessage(&l.done); err != nil {
		return err
	}
	l.forget()
	return l.out.Flush()
}

// forget leaves nothing of a call in the link.
func (l *inner) forget() {
	l.done = protocol.Done{}
	if cap(l.buf) > 2*batch {
		l.buf = nil
	}
	clear(l.buf[:cap(l.buf)])
	l.buf = l.buf[:0]
}

// do has the guest do a call, and sends what it answers.
func (l *inner) do(host *runtime.Host, guests runtime.Guests, call *protocol.Call) error {
	var req abi.Request
	if err := req.Decode(call.Request); err != nil {
		return abi.Errorf(abi.CodeInvalidParams, "the request has more in it than a provider can be asked").Because(err)
	}
	req.Session = call.Session
	ctx, end := l.begin(call)
	defer end()
	c := host.NewCall(call.Op, &req, relay{l})
	err := c.Run(ctx, guests)
	used := c.Usage(err)
	l.done.Fuel, l.done.HostCalls = used.Fuel, uint32(used.HostCalls)
	if err != nil {
		return err
	}
	return l.reply(c.Reply())
}

// begin makes the context of a call, which cancel and end end.
func (l *inner) begin(call *protocol.Call) (ctx context.Context, end context.CancelFunc) {
	deadline := time.Now().Add(call.Timeout)
	ctx, cancel := context.WithCancel(context.Background())
	l.mu.Lock()
	l.seq, l.stop = call.Seq, cancel
	if slices.Contains(l.over, call.Seq) {
		cancel()
	}
	l.over = slices.DeleteFunc(l.over, func(seq uint64) bool { return seq <= call.Seq })
	l.mu.Unlock()
	return &callContext{Context: ctx, link: l, deadline: deadline}, func() {
		l.mu.Lock()
		l.seq, l.stop = 0, nil
		l.mu.Unlock()
		cancel()
	}
}

// cancel ends a call that nobody waits for, if it is still under way. There may be no such link.
func (l *inner) cancel(seq uint64) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.seq == seq && l.stop != nil:
		l.stop()
	case len(l.over) < maxOver: // it has yet to begin, or has ended
		l.over = append(l.over, seq)
	}
}

// reply sends what a call answered beside contents, in frames of a bearable size.
func (l *inner) reply(r *abi.Reply) error {
	l.buf = l.buf[:0]
	for i := range r.Resources {
		if err := l.add(&abi.Reply{Resources: r.Resources[i : i+1]}); err != nil {
			return err
		}
	}
	for i := range r.Completions {
		if err := l.add(&abi.Reply{Completions: r.Completions[i : i+1]}); err != nil {
			return err
		}
	}
	rest := *r
	rest.Resources, rest.Completions = nil, nil
	if err := l.add(&rest); err != nil {
		return err
	}
	return l.put(len(l.buf))
}

// batch is what frames of a reply measure at most, in bytes, where that holds more than one part.
const batch = 32 << 10

// add puts a part of a reply into the frame that is being filled, or into the next.
func (l *inner) add(part *abi.Reply) error {
	before := len(l.buf)
	l.buf = part.Append(l.buf)
	if len(l.buf) <= batch {
		return nil
	}
	return l.put(before)
}

// put sends the first n bytes of what is there as a frame.
func (l *inner) put(n int) error {
	if n == 0 {
		return nil
	}
	if n > abi.MaxFrame {
		return abi.Errorf(abi.CodeTooLarge, "an entry of the result has more than %d bytes", abi.MaxFrame)
	}
	err := l.out.Put(protocol.KindFrame, l.buf[:n])
	l.buf = append(l.buf[:0], l.buf[n:]...)
	return err
}

// fail tells the parent that there will be no worker.
func (l *inner) fail(err error) error {
	var m protocol.Done
	m.SetError(err)
	if m.Message != "" {
		m.Message = err.Error() // with what it was about
	}
	if err := l.out.Put(protocol.KindFailed, m.Append(nil)); err != nil {
		return err
	}
	return l.out.Flush()
}

// ask asks the parent for a service.
func (l *inner) ask(id abi.Service, request []byte) (capability.Response, error) {
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

// changed passes a notice on. It goes with what is sent next.
func (l *inner) changed(uri string) {
	_ = l.out.Put(protocol.KindChanged, []byte(uri)) // a connection that fails keeps failing
}

// A callContext is that of a call. The deadline is looked at by the runtime alone.
type callContext struct {
	context.Context
	link     *inner
	deadline time.Time
}

// Deadline implements [context.Context].
func (c *callContext) Deadline() (time.Time, bool) { return c.deadline, true }

type linkKey struct{}

// Value implements [context.Context].
func (c *callContext) Value(key any) any {
	if key == (linkKey{}) {
		return c.link
	}
	return c.Context.Value(key)
}

// onLink makes a context in which what the guest asks and logs goes out on a link.
func onLink(ctx context.Context, l *inner) context.Context {
	return context.WithValue(ctx, linkKey{}, l)
}

// linkOf is the link that ctx belongs to; nil when it belongs to none.
func linkOf(ctx context.Context) *inner {
	l, _ := ctx.Value(linkKey{}).(*inner)
	return l
}
