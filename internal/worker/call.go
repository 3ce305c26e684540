package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime"
)

// call has the worker do c. again says that the worker was lost before the guest had said anything, and that the call
// is not known to be why.
func (w *worker) call(ctx context.Context, c *runtime.Call) (again bool, err error) {
	l, err := w.links.take()
	if err != nil {
		if errors.Is(err, errLost) {
			return true, gone(err)
		}
		return false, fmt.Errorf("open a link to the worker: %w", err)
	}
	err = l.serve(ctx, c)
	if !errors.Is(err, errLost) {
		w.links.give(l)
		return false, err
	}
	l.close()
	if l.overdue.Load() {
		return false, c.Overdue()
	}
	<-w.process.Done()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return false, c.Overdue()
	case ctx.Err() != nil:
		return false, ctx.Err()
	}
	w.runner.cfg.Logger.Debug("call lost its worker", "op", c.Op.String(), "again", !l.heard, "err", err)
	return !l.heard, gone(err)
}

// gone is what a client is told of a call that lost its worker.
func gone(err error) error {
	e := abi.Errorf(abi.CodeUnavailable, "the provider's process has ended")
	e.RetryAfter = 100 * time.Millisecond
	return e.Because(err)
}
