package instance

import (
	"context"

	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/guest"
)

// A panic of the host must not end the process, which has other clients' calls, and is not the guest's fault. The host
// discards the instance in which it happened.

// recoverPanic, deferred, makes an error of a panic in the engine.
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

// withRecover makes a panic in a host function, or in what it hands the guest's bytes to, the failure of the call. No
// function is entered that the guest may not call any more, and each gets the guest's memory as one that the guest pays for.
func withRecover(fs []engine.HostFunc) []engine.HostFunc {
	for i, f := range fs {
		fs[i].Call = func(_ context.Context, _ engine.Memory, host any, stack []uint64) {
			s := host.(*Instance)
			defer s.recoverHostCall()
			s.countHostCall()
			f.Call(s.ctx, &s.paid, host, stack) // the engine's own context lasts no longer than its call
		}
	}
	return fs
}

// recoverHostCall, deferred, is how a host function that panics ends its guest: with [engine.Stop] and no other way.
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
