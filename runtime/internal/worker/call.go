package worker

import (
	"context"
	"errors"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/worker/link"
)

// call runs c in the worker. retry reports that the call may be repeated: the worker was lost, not known to be for this
// call, the guest has answered nothing, and it has asked for nothing that may change something.
func (w *worker) call(ctx context.Context, c *guest.Call) (retry bool, err error) {
	c.SetStart(w.ready.Tape)
	err = w.links.Call(ctx, c)
	if err == nil {
		return false, nil
	}
	var lost *link.LostError
	switch {
	case !errors.As(err, &lost):
		return false, err
	case lost.Overdue:
		return false, c.DeadlineError()
	}
	return w.awaitExit(ctx, c, lost)
}

// awaitExit waits until a lost worker has ended, or until the call's deadline, and returns the error of the call.
func (w *worker) awaitExit(ctx context.Context, c *guest.Call, lost *link.LostError) (retry bool, _ error) {
	select {
	case <-w.process.Done():
	case <-ctx.Done():
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return false, c.DeadlineError()
	case ctx.Err() != nil:
		return false, ctx.Err()
	}
	retry = !lost.Answered && !lost.Changed
	w.runner.cfg.Logger.Debug("call lost its worker", "op", c.Op.String(), "retry", retry, "err", lost)
	return retry, processEnded(lost)
}

// processEnded returns the error of a call that lost its worker. It has no time to retry after if the call may have
// changed something: a client that retries would repeat the change.
func processEnded(lost *link.LostError) error {
	if lost.Changed {
		return abi.Errorf(abi.CodeUnavailable,
			"the provider's process has ended during the call, which may have changed something outside of it").Because(lost)
	}
	e := abi.Errorf(abi.CodeUnavailable, "the provider's process has ended")
	e.RetryAfter = 100 * time.Millisecond
	return e.Because(lost)
}
