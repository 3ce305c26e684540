package runtime

import (
	"context"

	"github.com/wasmres/wasmres/runtime/engine"
	"github.com/wasmres/wasmres/runtime/internal/guest"
)

// A panic of ours must not end the process, with everybody's calls, and is not the guest's fault. The instance it
// happened in is not used again.

// contain, deferred, makes an error of a panic in the engine.
func contain(err *error) {
	if p := recover(); p != nil {
		*err = guest.PanicError(p)
	}
}

func (s *sandbox) contain(err *error) {
	if p := recover(); p != nil {
		s.broken = true
		*err = guest.PanicError(p)
	}
}

// contained makes a panic in a host function, or in what it hands the guest's bytes to, the failure of the call. No
// function is entered that the guest may not call any more, and each gets the guest's memory as one that the guest pays for.
func contained(fs []engine.HostFunc) []engine.HostFunc {
	for i, f := range fs {
		fs[i].Call = func(_ context.Context, _ engine.Memory, host any, stack []uint64) {
			s := host.(*sandbox)
			defer s.catch()
			s.admitHostCall()
			f.Call(s.ctx, &s.paid, host, stack) // the engine's own context lasts no longer than its call
		}
	}
	return fs
}

// catch, deferred, is how a host function that panics ends its guest: with [engine.Stop] and no other way.
func (s *sandbox) catch() {
	switch p := recover().(type) {
	case nil:
	case engine.Stop:
		panic(p)
	default:
		s.broken = true
		s.stop(guest.PanicError(p))
	}
}
