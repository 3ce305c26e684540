package instance

import (
	"context"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/guest"
)

// Bounds of [abi.ExportStopped]. A stack of an interpreter takes some 10,000 units.
const (
	locateFuel = 20_000_000
	locateTime = 50 * time.Millisecond
)

// locate has a guest that the host has stopped in c log where it was, if the guest exports a function for that and err says
// that it ran for too long. What goes wrong then changes nothing.
func (s *Instance) locate(ctx context.Context, c *guest.Call, err error) {
	if s.unusable || !s.factory.Module.HasExport(abi.ExportStopped) || !ranTooLong(err) {
		return
	}
	c.Trace(func(trace *guest.Call) {
		d := deadline.New(context.WithoutCancel(ctx), locateTime)
		defer d.Release()
		e := execution{ctx: d, call: trace, fuelLimit: min(locateFuel, s.factory.Limits.Fuel)}
		if _, err := s.enter(e, abi.ExportStopped); err != nil {
			s.factory.Logger.Debug("a stopped provider cannot say where it was", "err", guest.Truncate(err))
		}
	})
	s.stopped = true
}

func ranTooLong(err error) bool {
	switch abi.CodeOf(err) {
	case abi.CodeFuel, abi.CodeDeadline, abi.CodeHostCalls:
		return true
	}
	return false
}
