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
	t, err := newTrip(c)
	if err != nil {
		return false, err
	}
	defer t.release()
	switch err := w.carry(ctx, t); {
	case err == nil || !errors.Is(err, errLost):
		return false, err
	case t.overdue:
		return false, c.Overdue()
	default:
		return w.mourn(ctx, t, err)
	}
}

// carry takes a trip to the worker and back.
func (w *worker) carry(ctx context.Context, t *trip) error {
	for {
		if err := w.links.board(t); err != nil {
			return fmt.Errorf("open a link to the worker: %w", err)
		}
		err := t.travel(ctx)
		if !errors.Is(err, errElsewhere) {
			return err
		}
		t.shares = false
	}
}

// mourn waits until a worker that was lost has ended, and says what that is to the call.
func (w *worker) mourn(ctx context.Context, t *trip, err error) (again bool, _ error) {
	<-w.process.Done()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return false, t.call.Overdue()
	case ctx.Err() != nil:
		return false, ctx.Err()
	}
	w.runner.cfg.Logger.Debug("call lost its worker", "op", t.call.Op.String(), "again", !t.heard, "err", err)
	return !t.heard, gone(err)
}

// gone is what a client is told of a call that lost its worker.
func gone(err error) error {
	e := abi.Errorf(abi.CodeUnavailable, "the provider's process has ended")
	e.RetryAfter = 100 * time.Millisecond
	return e.Because(err)
}
