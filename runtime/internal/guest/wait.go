package guest

import (
	"time"

	"github.com/wasmres/wasmres/abi"
)

// A BlockingSink is an [abi.Sink] that may keep a guest waiting, as for a client that reads slowly. The guest's time does
// not pass meanwhile. A sink that wraps another has a method Unwrap() abi.Sink: it is a BlockingSink if the other is.
type BlockingSink interface {
	// Waited is for how long it has done so by now. It is safe for concurrent use.
	Waited() time.Duration
}

// waiterOf finds the BlockingSink that a sink is, or wraps; nil for none.
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

// Waited is for how long the sink has kept the guest waiting by now; zero when it is no [BlockingSink].
func (c *Call) Waited() time.Duration {
	if c.waiter == nil {
		return 0
	}
	return c.waiter.Waited()
}

// Deadline returns when the call must end. It moves while a client keeps the guest waiting.
func (c *Call) Deadline() time.Time {
	return c.deadline.Add(min(c.Waited(), c.host.Limits.Wait))
}

// extend extends the deadline by the time for which the guest was kept waiting.
func (c *Call) extend() {
	if c.waiter != nil && c.bounds != nil {
		c.bounds.Extend(c.Deadline())
	}
}

// slow is for how long readers may keep a call waiting before the limiter counts it as slow.
const slow = time.Second

// checkSlow returns an error if a call with slow readers must end: their time is over, or so many calls are slow that others
// would find no slot.
func (c *Call) checkSlow() error {
	if c.Waited() > c.host.Limits.Wait && !time.Now().Before(c.Deadline()) {
		return c.host.DeadlineError()
	}
	return c.ticket.Slow()
}
