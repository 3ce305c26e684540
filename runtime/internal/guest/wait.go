package guest

import (
	"time"

	"github.com/wasmres/wasmres/abi"
)

// A BlockingSink is an [abi.Sink] that may block the guest, as for a client that reads slowly. That time does not count
// as the guest's. A sink that wraps another has a method Unwrap() abi.Sink: it is a BlockingSink if the other is.
type BlockingSink interface {
	// Blocked returns for how long the sink has blocked the guest so far. It is safe for concurrent use.
	Blocked() time.Duration
}

// waiterOf returns the BlockingSink that a sink is, or wraps; nil for none.
func waiterOf(sink abi.Sink) BlockingSink {
	for {
		if w, ok := sink.(BlockingSink); ok {
			return w
		}
		wrapper, ok := sink.(interface{ Unwrap() abi.Sink })
		if !ok {
			return nil
		}
		sink = wrapper.Unwrap()
	}
}

// clientTime returns for how long the sink has blocked the guest so far; zero if it is no [BlockingSink].
func (c *Call) clientTime() time.Duration {
	if c.waiter == nil {
		return 0
	}
	return c.waiter.Blocked()
}

// Blocked returns for how long the guest has waited so far for the client, and for a processor. Any goroutine may call it.
func (c *Call) Blocked() time.Duration { return c.clientTime() + c.slot.Waited() }

// Deadline returns when the call must end. It moves while the guest waits for the client or a processor. Any goroutine may call it
// after Begin.
func (c *Call) Deadline() time.Time {
	return c.deadline.Add(min(c.Blocked(), c.host.Limits.Wait))
}

// extend extends the deadline by the time for which the guest was blocked.
func (c *Call) extend() {
	if c.bounds != nil && (c.waiter != nil || c.slot.Waited() > 0) {
		c.bounds.Extend(c.Deadline())
	}
}

// slow is for how long readers may block a call before the limiter counts it as slow.
const slow = time.Second

// checkSlow returns an error if a call with slow readers must end: their time is over, or too many calls are slow.
func (c *Call) checkSlow() error {
	if c.clientTime() > c.host.Limits.Wait && !time.Now().Before(c.Deadline()) {
		return c.host.DeadlineError()
	}
	return c.ticket.Slow()
}
