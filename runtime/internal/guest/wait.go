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

// Blocked returns for how long the sink has blocked the guest so far; zero if it is no [BlockingSink].
func (c *Call) Blocked() time.Duration {
	if c.waiter == nil {
		return 0
	}
	return c.waiter.Blocked()
}

// Deadline returns when the call must end. It moves while a client blocks the guest.
func (c *Call) Deadline() time.Time {
	return c.deadline.Add(min(c.Blocked(), c.host.Limits.Wait))
}

// extend extends the deadline by the time for which the guest was blocked.
func (c *Call) extend() {
	if c.waiter != nil && c.bounds != nil {
		c.bounds.Extend(c.Deadline())
	}
}

// slow is for how long readers may block a call before the limiter counts it as slow.
const slow = time.Second

// checkSlow returns an error if a call with slow readers must end: their time is over, or too many calls are slow.
func (c *Call) checkSlow() error {
	if c.Blocked() > c.host.Limits.Wait && !time.Now().Before(c.Deadline()) {
		return c.host.DeadlineError()
	}
	return c.ticket.Slow()
}
