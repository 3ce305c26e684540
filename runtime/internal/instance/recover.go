package instance

import (
	"context"

	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/guest"
)

// A panic of the host must not end the process, which runs calls of other clients, and is not the guest's fault. The
// host discards the instance in which it happened.

// recoverPanic, deferred, turns a panic in the engine into an error.
func recoverPanic(err *error) {
	if p := recover(); p != nil {
		*err = guest.PanicError(p)
	}
}

func (s *Instance) recoverPanic(err *error) {
	if p := recover(); p != nil {
		s.unusable = true
		*err = guest.PanicError(p)
	}
}

// withRecover turns a panic in a host function into the failure of the call. It also checks before each function
// whether the guest may still call it, and passes it the guest's memory as a paidMemory.
func withRecover(fs []engine.HostFunc) []engine.HostFunc {
	for i, f := range fs {
		fs[i].Call = func(_ context.Context, _ engine.Memory, host any, stack []uint64) {
			s := host.(*Instance)
			defer s.recoverHostCall()
			s.countHostCall()
			f.Call(s.ctx, &s.paid, host, stack) // the engine's own context ends with its call
		}
	}
	return fs
}

// recoverHostCall, deferred, ends the guest of a host function that panics, with [engine.Stop].
func (s *Instance) recoverHostCall() {
	switch p := recover().(type) {
	case nil:
	case engine.Stop:
		panic(p)
	default:
		s.unusable = true
		s.stop(guest.PanicError(p))
	}
}
