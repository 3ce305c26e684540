package fair

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/admission"
)

// A Task is a call that can be paused while it runs. A turn calls one method at a time, and none after Leave.
type Task interface {
	// Pause has the call stop soon. It must not block for long.
	Pause()
	// Continue has a call that was paused go on.
	Continue()
}

// A Turn is the permission of one call to keep a processor busy. It belongs to the goroutine of the call, but for Waited. The zero
// Turn has no share: its methods do nothing. It must not be copied after Init.
type Turn struct {
	// fixed from Init on
	share *Share
	task  Task   // nil if the call cannot be paused
	meter *Meter // nil for none; fixed from Enter on

	// owned by the goroutine of the call
	entered bool
	counted time.Duration // processor time of which the queue knows

	slot    atomic.Int32 // the one it had last; others may have it now
	waited  atomic.Int64 // in all, in nanoseconds
	since   atomic.Int64 // on the queue's clock, of the wait that lasts; 0 for none; written under Queue.mu
	paused  atomic.Bool  // the task must stand still; written under Queue.mu
	telling atomic.Bool  // the task was paused once, or is about to be

	granted chan struct{} // of one; receives when a turn with waits gets a slot

	// guarded by Queue.mu
	line          *line // nil while it waits in none
	before, after *Turn
	waits         bool    // the goroutine of the call waits
	reserved      float64 // part of that of the share
	epoch         uint64  // of the queue, in which it was reserved

	tellMu sync.Mutex // held while the task is called
	told   bool       // it was told to pause; guarded by tellMu
	ended  bool       // guarded by tellMu
}

// Init makes t one of a share, which may be nil. With a nil task the call cannot be paused. It is called once, before all others.
func (t *Turn) Init(s *Share, task Task) { t.share, t.task = s, task }

// Enter waits for a slot. It is called once, and the caller calls Leave in any case. Without a meter the call pays what Yield and Leave say. The error is
// abi.CodeBusy with an [admission.Error] if the share has too many waiting turns, or if no slot was free within that time; else
// that of ctx.
func (t *Turn) Enter(ctx context.Context, meter *Meter, within time.Duration) error {
	if t.share == nil {
		return nil
	}
	t.entered, t.meter = true, meter
	if q := t.share.queue; q.waiting.Load() == 0 && q.claim(t) {
		return nil
	}
	return t.wait(ctx, fresh, within)
}

// Yield gives the slot back while the call waits for something else than a processor. used is the processor time of the call until
// now.
func (t *Turn) Yield(used time.Duration) {
	if t.entered {
		t.release(used)
	}
}

// Resume waits for a slot after Yield. Turns of calls that have begun come before others of their share. The errors are those of
// Enter, but the share never has too many waiting turns.
func (t *Turn) Resume(ctx context.Context, within time.Duration) error {
	if !t.entered {
		return nil
	}
	if q := t.share.queue; q.waiting.Load() == 0 && !t.paused.Load() && q.claim(t) {
		return nil
	}
	return t.wait(ctx, begun, within)
}

// Leave gives the slot back at the end of the call. used is the processor time of the call. The task is not called any more.
func (t *Turn) Leave(used time.Duration) {
	if !t.entered {
		return
	}
	t.entered = false
	t.release(used)
	if t.telling.Load() {
		t.tellMu.Lock()
		t.ended = true
		t.tellMu.Unlock()
	}
}

// Waited returns how long the turn has waited for slots until now, its pauses included. Any goroutine may call it.
func (t *Turn) Waited() time.Duration {
	since := time.Duration(t.since.Load())
	waited := time.Duration(t.waited.Load())
	if since != 0 {
		waited += max(t.share.queue.now()-since, 0)
	}
	return waited
}

// release gives the slot back, or ends the wait of a turn that was paused.
func (t *Turn) release(used time.Duration) {
	q, more := t.share.queue, max(used-t.counted, 0)
	t.counted = max(used, t.counted)
	if !q.busy.Load() && q.vacate(t) {
		if q.waiting.Load() > 0 {
			q.dispatch()
		}
		return
	}
	if t.meter != nil {
		t.meter.charge()
	} else if more > 0 {
		t.share.owe(more)
	}
	if !t.entered {
		t.share.learn(t.counted)
	}
	q.mu.Lock()
	now := q.now()
	t.dropReserveLocked()
	if t.line != nil { // it was paused, and has come to its end or to a service all the same
		q.removeLocked(t, now)
	} else {
		q.vacateLocked(t)
	}
	told := q.dispatchLocked(now)
	q.mu.Unlock()
	tell(told)
}

// dispatch gives free slots to waiting turns.
func (q *Queue) dispatch() {
	q.mu.Lock()
	told := q.dispatchLocked(q.now())
	q.mu.Unlock()
	tell(told)
}

// wait waits in a line until the turn has a slot.
func (t *Turn) wait(ctx context.Context, kind int, within time.Duration) error {
	q := t.share.queue
	q.mu.Lock()
	now := q.now()
	if err := q.refusalLocked(t.share, kind); err != nil {
		q.mu.Unlock()
		return err
	}
	if t.granted == nil {
		t.granted = make(chan struct{}, 1)
	}
	t.waits = true
	q.enqueueLocked(t, kind, now)
	told := q.dispatchLocked(now)
	q.mu.Unlock()
	tell(told)
	if err := t.await(ctx, within); err != nil {
		return err
	}
	if waited := q.now() - now; waited > 0 {
		q.cfg.Waited(waited)
	}
	return nil
}

// await waits for the slot of a turn in a line, at most within that time.
func (t *Turn) await(ctx context.Context, within time.Duration) (err error) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-t.granted:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
	}
	q := t.share.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if !t.waits { // it got a slot just now; if ctx has ended, Leave frees it
		<-t.granted
		return err
	}
	if err == nil {
		err = t.share.busyLocked("no processor was free in time", ofServer)
	}
	t.waits = false
	q.removeLocked(t, q.now())
	return err
}

// reserveLocked counts what the call is expected to use as used.
func (t *Turn) reserveLocked() {
	s := t.share
	t.reserved, t.epoch = s.cost(time.Duration(s.estimate.Load())), s.epoch
	s.reserved += t.reserved
	s.fixLocked()
}

// dropReserveLocked ends the effect of reserveLocked.
func (t *Turn) dropReserveLocked() {
	s := t.share
	if t.reserved != 0 && t.epoch == s.epoch {
		s.reserved -= t.reserved
		s.fixLocked()
	}
	t.reserved = 0
}

// Whose a limit is, for clients.
const (
	ofTenant = "tenant"
	ofServer = "server"
)

// refusalLocked returns the error of a turn that may not wait; nil if it may.
func (q *Queue) refusalLocked(s *Share, kind int) error {
	switch {
	case kind == begun:
		return nil
	case s.lines[fresh].length >= q.cfg.MaxWaitingOfShare:
		return s.busyLocked("too many calls wait for a processor", ofTenant)
	case q.waiting.Load() >= int64(q.cfg.MaxWaiting):
		return s.busyLocked("too many calls wait for a processor", ofServer)
	}
	return nil
}

const minRetry, maxRetry = 100 * time.Millisecond, 10 * time.Second

// busyLocked returns a refusal. The client may retry when the waiting turns of the share should have ended, if all others wait as
// well.
func (s *Share) busyLocked(message, of string) error {
	q, weight := s.queue, int64(s.weight.Load())
	work := s.estimate.Load() * max(q.weights, weight) / weight / int64(len(q.slots))
	retryAfter := min(max(time.Duration(work)*time.Duration(s.lines[fresh].length), minRetry), maxRetry)
	return abi.Busy(retryAfter, message).Because(&admission.Error{Refusal: admission.Refusal{Limit: admission.Queue, Of: of, RetryAfter: retryAfter}})
}
