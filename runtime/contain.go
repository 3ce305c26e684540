package runtime

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/engine"
)

// A panic of ours must not end the process, with everybody's calls, and is not the guest's fault.

// contain, deferred, makes an error of a panic in the engine.
func contain(err *error) {
	if p := recover(); p != nil {
		*err = panicked(p)
	}
}

// contained makes a panic in a host function, or in what it hands the guest's bytes to, the failure of the call.
func contained(fs []engine.HostFunc) []engine.HostFunc {
	for i, f := range fs {
		fs[i].Call = func(ctx context.Context, mem engine.Memory, host any, stack []uint64) {
			defer host.(*sandbox).stop()
			f.Call(ctx, mem, host, stack)
		}
	}
	return fs
}

// stop, deferred, is how a host function that panics ends its guest: with [engine.Stop] and no other way.
func (s *sandbox) stop() {
	switch p := recover().(type) {
	case nil:
	case engine.Stop:
		panic(p)
	default:
		s.call.fail(panicked(p))
		panic(engine.Stop{Err: s.call.failure})
	}
}

func panicked(p any) *abi.Error {
	return (&abi.Error{Code: abi.CodeInternal}).Because(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
}
