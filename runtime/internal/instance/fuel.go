package instance

import (
	"context"
	goruntime "runtime"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/meter"
)

// fuelSlice is the fuel a guest gets at once: what it may do between two looks at the clock. That is some 10 to 50 µs of
// computing, enough for most reads, and milliseconds of touching a new page with every few instructions.
const fuelSlice = 250_000

// refuel gives the guest its next slice, and as much as it has overdrawn by now. It answers what the guest has then,
// which is still below zero when the limit does not allow for more.
func (s *Instance) refuel(overdrawn uint64) uint64 {
	more := min(overdrawn+fuelSlice, s.factory.Limits.Fuel-s.granted)
	s.granted += more
	return more - overdrawn
}

// tickFunc is what a metered guest calls when its fuel is used up.
func tickFunc() engine.HostFunc {
	return engine.HostFunc{
		Module: meter.ImportModule, Name: meter.ImportTick,
		Call: func(_ context.Context, _ engine.Memory, host any, _ []uint64) { host.(*Instance).tick() },
	}
}

// tick stops the guest if it must end, or lets it go on for another slice, after others that wait for the processor:
// by itself Go would let guests take turns of 10 ms, and with some of them one would notice much too late that its time is up.
func (s *Instance) tick() {
	s.memory.StopTracking()
	goruntime.Gosched()
	s.call.PassProgress()
	s.stopIfDone()
	left := s.refuel(-s.fuel.Get())
	s.fuel.Set(left)
	if int64(left) < 0 {
		s.stop(abi.Errorf(abi.CodeFuel, "the provider used more than %d units of fuel", s.factory.Limits.Fuel))
	}
}

// clockEvery is how many calls of the host are between two looks at the clock. Ticks look at it too; this is for guests
// that do nothing but call, each time for microseconds. After a service, which may have taken long, it is looked at too.
const clockEvery = 16

// countHostCall counts a call of the host and stops the guest if it has no more of them, or must end.
func (s *Instance) countHostCall() {
	s.asked++
	switch {
	case s.asked > s.factory.Limits.HostCalls:
		s.stop(s.factory.Host.HostCallsError())
	case s.asked-s.looked >= clockEvery || s.waited || s.ctx.IsCancelled():
		s.looked, s.waited = s.asked, false
		s.stopIfDone()
	}
}

// stopIfDone stops the guest once its caller has gone, or its time is up.
func (s *Instance) stopIfDone() {
	if s.ctx.Err() != nil {
		s.stop(s.factory.Host.ContextError(s.ctx))
	}
}

// stop ends the guest. It does not return.
func (s *Instance) stop(err error) {
	s.call.Fail(err)
	panic(engine.Stop{Err: s.call.Err()})
}
