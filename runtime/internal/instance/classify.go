package instance

import (
	"errors"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/module"
	"github.com/wasmres/wasmres/runtime/internal/wasi"
)

// classify returns the error of a guest that failed. The host's own findings take precedence over the guest's.
func (s *Instance) classify(err error) error {
	var stop engine.Stop
	var exit wasi.Exit
	var known *abi.Error
	host := s.factory.Host
	crash := s.factory.crash(err)
	switch {
	case s.unusable && s.call.Err() != nil: // the host's own fault
		return s.call.Err()
	case s.call.Err() != nil:
		return guest.WithCrash(s.call.Err(), crash)
	case s.ctx.Err() != nil:
		return host.ContextError(s.ctx).Because(crash)
	case s.unusable:
		return err
	case s.memory.GrowthRefused() && s.factory.memoryLimit() >= min(s.factory.Limits.Memory, module.MaxPages*engine.PageSize):
		return abi.Errorf(abi.CodeMemory, "the provider needs more than %d MiB of memory", s.factory.Limits.Memory>>20).Because(crash)
	case errors.As(err, &stop) && errors.As(stop.Err, &exit):
		return guest.WithCrash(abi.Errorf(abi.CodeExit, "the provider exited").Because(exit), crash)
	case errors.As(err, &stop) && errors.As(stop.Err, &known):
		return guest.WithCrash(known, crash)
	case int32(s.depth.Get()) < 0 || errors.Is(err, engine.ErrStack):
		crash.Reason = engine.ErrStack.Error()
		return host.StackError().Because(crash)
	}
	return abi.Errorf(abi.CodeTrap, "the provider crashed").Because(crash)
}
