package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/sandbox"
)

// call has the worker do c. again says that the worker was lost, that the call is not known to be why, and that the call
// may be repeated: the guest has answered nothing, and has asked for nothing that may change something.
func (w *worker) call(ctx context.Context, c *sandbox.Call) (again bool, err error) {
	t, err := newTrip(c)
	if err != nil {
		return false, err
	}
	defer t.release()
	switch err := w.carry(ctx, t); {
	case err == nil || !errors.Is(err, errLost):
		return false, err
	case t.overdue:
		return false, c.DeadlineError()
	default:
		return w.explainLoss(ctx, t, err)
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

// explainLoss waits until a worker that was lost has ended, or the call's time is over, and says what that is to the call.
func (w *worker) explainLoss(ctx context.Context, t *trip, err error) (again bool, _ error) {
	select {
	case <-w.process.Done():
	case <-ctx.Done():
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return false, t.call.DeadlineError()
	case ctx.Err() != nil:
		return false, ctx.Err()
	}
	again = !t.heard && !t.changes
	w.runner.cfg.Logger.Debug("call lost its worker", "op", t.call.Op.String(), "again", again, "err", err)
	return again, t.gone(err)
}

// gone is the error of a call that lost its worker. A client is not asked to try again where that may repeat what the
// call has changed.
func (t *trip) gone(err error) error {
	if t.changes {
		return abi.Errorf(abi.CodeUnavailable,
			"the provider's process has ended during the call, which may have changed something outside of it").Because(err)
	}
	e := abi.Errorf(abi.CodeUnavailable, "the provider's process has ended")
	e.RetryAfter = 100 * time.Millisecond
	return e.Because(err)
}
