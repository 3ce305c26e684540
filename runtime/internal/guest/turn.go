package guest

import (
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/fair"
	"github.com/wasmres/wasmres/runtime/resource"
)

// EnterTurn waits until a processor is free for the call, if its module has a Share. The runner calls it when nothing else keeps
// the guest from running. End gives the processor back. With a meter, the share pays what that measures. A
// pausable call has a Pauser while its guest runs. The time of waiting is not that of the call.
func (c *Call) EnterTurn(meter *fair.Meter, pausable bool) error {
	if c.host.Share == nil {
		return nil
	}
	var task fair.Task
	if pausable {
		task = c
	}
	c.slot.Init(c.host.Share, task)
	if err := c.slot.Enter(c.ctx, meter, c.host.Limits.Timeout); err != nil {
		return err
	}
	c.extend()
	if s := waitingSinkOf(c.sink); s != nil {
		s.OnWait(c)
	}
	return nil
}

// waitingSinkOf returns the [resource.WaitingSink] that a sink is, or wraps; nil for none.
func waitingSinkOf(sink abi.Sink) resource.WaitingSink {
	for {
		if w, ok := sink.(resource.WaitingSink); ok {
			return w
		}
		wrapper, ok := sink.(interface{ Unwrap() abi.Sink })
		if !ok {
			return nil
		}
		sink = wrapper.Unwrap()
	}
}

// BeginWait implements [resource.Waiter]: it gives the processor back while the guest waits for something else.
func (c *Call) BeginWait() { c.slot.Yield(c.CPUTime()) }

// EndWait implements [resource.Waiter]: it waits for a processor again. If none is free in time, the call fails.
func (c *Call) EndWait() {
	if err := c.slot.Resume(c.ctx, c.host.Limits.Timeout); err != nil {
		c.Fail(err)
	}
}

// A Pauser pauses the guest of a call that runs, or has it go on. It must not block for long.
type Pauser interface{ Pause(on bool) }

// pausing has the Pauser of a call.
type pausing struct {
	mu     sync.Mutex // guards the fields below; held while pauser is called
	pauser Pauser     // nil while the guest does not run
	on     bool
}

// SetPauser sets what pauses the guest from now on; nil for nothing.
func (c *Call) SetPauser(p Pauser) {
	if c.host.Share == nil {
		return
	}
	c.pausing.mu.Lock()
	defer c.pausing.mu.Unlock()
	c.pausing.pauser = p
	if p != nil && c.pausing.on {
		p.Pause(true)
	}
}

// Pause implements [fair.Task].
func (c *Call) Pause() { c.pause(true) }

// Continue implements [fair.Task].
func (c *Call) Continue() { c.pause(false) }

func (c *Call) pause(on bool) {
	c.pausing.mu.Lock()
	defer c.pausing.mu.Unlock()
	c.pausing.on = on
	if p := c.pausing.pauser; p != nil {
		p.Pause(on)
	}
}

// A Gate stops guests that must stand still.
type Gate interface {
	// Pass waits while the guest must stand still.
	Pass()
}

// SetGate sets the gate that the guest passes whenever its clock is read; nil for none.
func (c *Call) SetGate(g Gate) { c.gate = g }

// Pass waits while the guest must stand still.
func (c *Call) Pass() {
	if c.gate != nil {
		c.gate.Pass()
		c.extend()
	}
}
