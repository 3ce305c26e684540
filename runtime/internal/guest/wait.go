package guest

import (
	"time"

	"github.com/wasmres/wasmres/abi"
)

// A Waiter is an [abi.Sink] that may keep a guest waiting, as for a client that reads slowly. The
// guest's time does not pass meanwhile.
//
// A sink that wraps another says so by a method Unwrap() abi.Sink: then it is a Waiter if the other is.
type BlockingSink interface {
	// Waited is for how long it has done so by now. It is safe for concurrent use.
	Waited() time.Duration
}

// waiterOf finds the Waiter that a sink is, or wraps; nil for none.
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

// Waited is for how long the sink has kept the guest waiting by now; zero when it is no [Waiter].
func (c *Call) Waited() time.Duration {
	if c.waiter == nil {
		return 0
	}
	return c.waiter.Waited()
}

// Deadline is when the call must have ended. It moves while the guest is kept waiting.
func (c *Call) Deadline() time.Time {
	return c.deadline.Add(min(c.Waited(), c.host.cfg.Limits.Wait))
}

// extend gives the guest the time back for which it was kept waiting.
func (c *Call) extend() {
	if c.waiter != nil && c.bounds != nil {
		c.bounds.Extend(c.Deadline())
	}
}

// slow is for how long readers may keep a call waiting before it counts as lingering.
const slow = time.Second

// linger says why a call whose readers are slow must end: they have had their time, or too many calls are slow, so that
// others would find no slot.
func (c *Call) linger() error {
	if c.Waited() > c.host.cfg.Limits.Wait && !time.Now().Before(c.Deadline()) {
		return c.host.DeadlineError()
	}
	return c.ticket.Slow()
}
