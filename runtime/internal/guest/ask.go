package guest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
)

const (
	// serviceGrace is how long after the call's deadline, or after its cancellation, a service may still answer. Services
	// that observe their context answer within it.
	serviceGrace = 25 * time.Millisecond
	// maxAbandoned is how many abandoned calls of one service may still run before further calls of it are abi.CodeBusy.
	maxAbandoned = 16
)

// A grantedService is a granted service of one provider, with the number of its abandoned calls that still run.
type grantedService struct {
	id        abi.Service
	service   capability.Service
	here      bool // it is called on the goroutine of the guest
	abandoned atomic.Int32
}

func grantedServices(services capability.Services) map[abi.Service]*grantedService {
	granted := make(map[abi.Service]*grantedService, len(services))
	for id, s := range services {
		granted[id] = &grantedService{id: id, service: s, here: endsByItself(s)}
	}
	return granted
}

// endsByItself reports whether no call of s has to be abandoned.
func endsByItself(s capability.Service) bool {
	if _, immediate := s.(capability.Immediate); immediate {
		return true
	}
	p, ok := s.(capability.Prompt)
	return ok && p.IsPrompt()
}

// An ask calls services on its own goroutine, one after the other. That goroutine outlives a call, because growing its
// stack again is costly. An ask that was abandoned, or whose goroutine has ended, is not used again.
type ask struct {
	// fixed at creation
	host   *Host
	begin  chan struct{}   // holds one token for each service call; closed when there are no more
	events chan event      // for the waiting caller
	watch  *deadline.Watch // sends overdue

	// set by the guest's goroutine before the service begins
	ctx     context.Context
	granted *grantedService
	request []byte // a copy: guest memory and link buffers are reused when the caller has returned

	state atomic.Uint32 // askRunning, then one of the others

	// owned by the service's goroutine until it has answered
	resp     capability.Response
	err      error
	returned bool // the service has returned, by itself
	panicked bool
}

const (
	askRunning uint32 = iota
	askAnswered
	askAbandoned
)

// An event is one for which a caller waits.
type event uint8

const (
	answered event = iota
	overdue        // it may be time to abandon the service
)

const (
	maxKeptRequest = 64 << 10 // bytes of a request whose copy is kept for the next call
	maxIdleAsks    = 64       // asks of a module that wait for the next call
)

func (h *Host) newAsk() *ask {
	select {
	case a := <-h.asks:
		return a
	default:
	}
	a := &ask{host: h, begin: make(chan struct{}, 1), events: make(chan event, 4)} // an answer always has room
	a.watch = deadline.NewWatch(func() {
		select {
		case a.events <- overdue:
		default:
		}
	})
	go a.serve() // ends when a is abandoned or begin is closed
	return a
}

// release makes a available to other calls. It erases all data of this call.
func (a *ask) release() {
	clear(a.request)
	if a.request = a.request[:0]; cap(a.request) > maxKeptRequest {
		a.request = nil
	}
	usable := a.watch.Stop() && (a.returned || a.panicked) // else its goroutine has ended, or an event is on its way
	a.ctx, a.granted, a.resp, a.err, a.returned, a.panicked = nil, nil, capability.Response{}, nil, false, false
	if usable {
		select {
		case a.host.asks <- a:
			return
		default:
		}
	}
	close(a.begin)
}

// endAsks ends the goroutines of asks that wait for a call.
func (h *Host) endAsks() {
	for {
		select {
		case a := <-h.asks:
			close(a.begin)
		default:
			return
		}
	}
}

// ask calls a service and waits for its answer. If there is none when serviceGrace has passed since the call's deadline
// or its cancellation, the call fails and the service is abandoned: its goroutine runs until the service returns, and
// its answer is discarded.
func (c *Call) ask(ctx context.Context, granted *grantedService, request []byte) (capability.Response, error) {
	h := c.host
	if n := granted.abandoned.Load(); n >= maxAbandoned {
		err := h.BusyError("a service of the provider does not answer")
		c.Fail(err)
		return capability.Response{}, err
	}
	if c.deadline.IsZero() { // the runner has set none
		c.deadline = time.Now().Add(h.Limits.Timeout)
	}
	a := h.newAsk()
	a.ctx, a.granted, a.request = ctx, granted, append(a.request, request...)
	a.state.Store(askRunning)
	a.begin <- struct{}{}
	if err := c.await(ctx, a); err != nil {
		c.Fail(err)
		return capability.Response{}, err
	}
	defer a.release()
	if a.panicked {
		c.Fail(a.err)
	}
	return a.resp, a.err
}

// await waits for the answer of a. After an error, a was abandoned.
func (c *Call) await(ctx context.Context, a *ask) error {
	cancelled, cancelledAt := parentDone(ctx), time.Time{}
	a.watch.Start(c.Deadline().Add(serviceGrace))
	for {
		select {
		case e := <-a.events:
			if e == answered {
				return nil
			}
		case <-cancelled:
			cancelled, cancelledAt = nil, time.Now()
		}
		end := c.Deadline() // the deadline may have moved
		if !cancelledAt.IsZero() {
			end = cancelledAt
		}
		if end = end.Add(serviceGrace); time.Now().Before(end) {
			a.watch.Start(end)
			continue
		}
		if !a.abandon() {
			continue // it is answered
		}
		if !cancelledAt.IsZero() {
			return c.host.ContextError(ctx)
		}
		return c.host.DeadlineError()
	}
}

// parentDone is closed when the caller has cancelled. It avoids Done of a [deadline.Context], which needs a timer.
func parentDone(ctx context.Context) <-chan struct{} {
	if d, ok := ctx.(*deadline.Context); ok {
		return d.Cancelled()
	}
	return ctx.Done()
}

// abandon stops waiting for a. It returns false when the service has just answered.
func (a *ask) abandon() bool {
	a.granted.abandoned.Add(1)
	if !a.state.CompareAndSwap(askRunning, askAbandoned) {
		a.granted.abandoned.Add(-1)
		return false
	}
	a.watch.Stop()
	a.host.Logger.Warn("service call abandoned: it runs on after the call's deadline",
		"service", uint32(a.granted.id), "abandoned", a.granted.abandoned.Load())
	return true
}

var errNoAnswer = errors.New("the service ended without an answer")

// serve calls services until begin is closed, or a was abandoned.
func (a *ask) serve() {
	for range a.begin {
		if a.run() {
			return
		}
	}
}

// run calls the service, and reports whether a was abandoned meanwhile.
func (a *ask) run() (abandoned bool) {
	a.err = errNoAnswer // a service may end its goroutine
	defer func() {
		if p := recover(); p != nil {
			a.resp, a.err, a.panicked = capability.Response{}, PanicError(p), true
		}
		abandoned = a.finish()
	}()
	a.resp, a.err = a.granted.service.Call(a.ctx, a.request)
	a.returned = true
	return
}

// finish passes the answer to the caller, or discards it when the caller has stopped waiting.
func (a *ask) finish() (abandoned bool) {
	granted := a.granted // after the answer, a belongs to the caller
	if a.state.CompareAndSwap(askRunning, askAnswered) {
		a.events <- answered
		return false
	}
	left := granted.abandoned.Add(-1)
	a.host.Logger.Warn("abandoned service call ended", "service", uint32(granted.id), "abandoned", left)
	return true
}
