package runtime

import (
	"context"
	goruntime "runtime"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/engine"
	"github.com/wasmres/wasmres/runtime/meter"
)

// slice is the fuel a guest gets at once: what it may do between two looks at the clock. That is some 10 to 50 µs of
// computing, enough for most reads, and milliseconds of touching a new page with every few instructions.
const slice = 250_000

// grant gives the guest its next slice, and as much as it has overdrawn by now. It answers what the guest has then,
// which is still below zero when the limit does not allow for more.
func (s *sandbox) grant(overdrawn uint64) uint64 {
	more := min(overdrawn+slice, s.guests.Limits.Fuel-s.granted)
	s.granted += more
	return more - overdrawn
}

// tickFunc is what a metered guest calls when its fuel is used up.
func tickFunc() engine.HostFunc {
	return engine.HostFunc{
		Module: meter.ImportModule, Name: meter.ImportTick,
		Call: func(_ context.Context, _ engine.Memory, host any, _ []uint64) { host.(*sandbox).tick() },
	}
}

// tick stops the guest if it must end, or lets it go on for another slice, after others that wait for the processor:
// by itself Go would let guests take turns of 10 ms, and with some of them one would notice much too late that its time is up.
func (s *sandbox) tick() {
	s.memory.Loosen()
	goruntime.Gosched()
	s.call.PassProgress()
	s.stopIfOver()
	left := s.grant(-s.fuel.Get())
	s.fuel.Set(left)
	if int64(left) < 0 {
		s.stop(abi.Errorf(abi.CodeFuel, "the provider used more than %d units of fuel", s.guests.Limits.Fuel))
	}
}

// clockEvery is how many calls of the host are between two looks at the clock. Ticks look at it too; this is for guests
// that do nothing but call, each time for microseconds. After a service, which may have taken long, it is looked at too.
const clockEvery = 16

// admitHostCall counts a call of the host and stops the guest if it has no more of them, or must end.
func (s *sandbox) admitHostCall() {
	s.asked++
	switch {
	case s.asked > s.guests.Limits.HostCalls:
		s.stop(s.guests.Host.HostCallsError())
	case s.asked-s.looked >= clockEvery || s.waited || s.ctx.IsCancelled():
		s.looked, s.waited = s.asked, false
		s.stopIfOver()
	}
}

// stopIfOver stops the guest once nobody waits for it, or its time is up.
func (s *sandbox) stopIfOver() {
	if s.ctx.Err() != nil {
		s.stop(s.guests.Host.ContextError(s.ctx))
	}
}

// stop ends the guest. It does not return.
func (s *sandbox) stop(err error) {
	s.call.Fail(err)
	panic(engine.Stop{Err: s.call.Err()})
}
