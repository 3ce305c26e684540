package instance

import (
	"context"
	goruntime "runtime"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/meter"
)

// fuelSlice is the fuel that a guest gets at once, between two readings of the clock. That lasts some 10 to 50 µs of
// computing, enough for most reads, and milliseconds of touching a new page every few instructions.
const fuelSlice = 250_000

// refuel grants the guest its next slice, plus the fuel that it has overdrawn. It returns the guest's fuel after that,
// which is still below zero when the limit is reached.
func (s *Instance) refuel(overdrawn uint64) uint64 {
	more := min(overdrawn+fuelSlice, s.fuelLimit-s.granted)
	s.granted += more
	return more - overdrawn
}

// tickFunc returns the function that a metered guest calls when its fuel is used up.
func tickFunc() engine.HostFunc {
	return engine.HostFunc{
		Module: meter.ImportModule, Name: meter.ImportTick,
		Call: func(_ context.Context, _ engine.Memory, host any, _ []uint64) { host.(*Instance).tick() },
	}
}

// tick stops the guest if it must end. Otherwise it grants another slice, after goroutines that wait for the processor:
// by itself Go would run each guest for 10 ms, so that some would notice their deadline much too late. A guest that keeps
// its thread delays none.
func (s *Instance) tick() {
	s.memory.StopTracking()
	if !s.keepsThread {
		goruntime.Gosched()
	}
	s.call.PassProgress()
	s.stopIfDone()
	left := s.refuel(-s.fuel.Get())
	s.fuel.Set(left)
	if int64(left) < 0 {
		s.stop(abi.Errorf(abi.CodeFuel, "the provider used more than %d units of fuel", s.fuelLimit))
	}
}

// clockEvery is how many host calls may pass between two readings of the clock. Ticks read it too; this is for guests
// that only call the host, for microseconds each. After a service, which may have taken long, the clock is read as
// well.
const clockEvery = 16

// countHostCall counts a call of the host. It stops the guest if it has none left, or must end.
func (s *Instance) countHostCall() {
	s.hostCalls++
	switch {
	case s.hostCalls > s.factory.Limits.HostCalls:
		s.stop(s.factory.Host.HostCallsError())
	case s.hostCalls-s.checkedAt >= clockEvery || s.waited || s.ctx.IsCancelled() || s.call.Origin().Stop != nil:
		s.checkedAt, s.waited = s.hostCalls, false
		s.stopIfDone()
	}
}

// stopIfDone stops the guest if its caller has gone, its time is over, or it has come to where its call is to end.
func (s *Instance) stopIfDone() {
	s.call.Pass()
	if p := s.call.Origin().Stop; p != nil && s.spentNow() >= p.Fuel && s.hostCalls >= p.HostCalls {
		s.stop(s.factory.Host.DeadlineError())
	}
	if s.ctx.Err() != nil {
		s.stop(s.factory.Host.ContextError(s.ctx))
	}
}

// stop ends the guest. It does not return.
func (s *Instance) stop(err error) {
	s.call.Fail(err)
	panic(engine.Stop{Err: s.call.Err()})
}

// spentNow returns the fuel that the export has used so far.
func (s *Instance) spentNow() uint64 { return s.granted - s.fuel.Get() }
