package runtime

import (
	"context"
	"sync"
	"time"
)

// A bounded context ends with its parent, at a deadline that may move, or when it is released. It costs next to nothing
// until a goroutine waits for it: few calls have one that does, and guests look at the clock in their ticks. It keeps one
// timer at most, however often the deadline moves.
type bounded struct {
	context.Context // the parent
	began           time.Time

	mu       sync.Mutex // guards the fields below
	deadline time.Time  // written by the goroutine that makes the call, which may read it without mu
	ended    error      // nil until the context has ended
	waited   *waited    // nil until a goroutine waits for the end
}

// waited is what a context that goroutines wait for has.
type waited struct {
	done   chan struct{}        // closed when ended is set
	timer  *time.Timer          // expires at the deadline or before
	follow func() bool          // ends the wait for the end of the parent
	after  map[*func()]struct{} // what AfterFunc is to call
}

func newBounded(parent context.Context, timeout time.Duration) *bounded {
	began := time.Now()
	deadline := began.Add(timeout)
	if sooner, ok := parent.Deadline(); ok && sooner.Before(deadline) {
		deadline = sooner
	}
	return &bounded{Context: parent, began: began, deadline: deadline}
}

// Deadline implements [context.Context].
func (b *bounded) Deadline() (time.Time, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.deadline, true
}

// Err implements [context.Context].
func (b *bounded) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.checkLocked()
}

// checkLocked ends the context if its parent has ended or the deadline has passed.
func (b *bounded) checkLocked() error {
	if b.ended != nil {
		return b.ended
	}
	if err := b.Context.Err(); err != nil {
		b.endLocked(err)
	} else if !time.Now().Before(b.deadline) {
		b.endLocked(context.DeadlineExceeded)
	}
	return b.ended
}

// extend moves the deadline, unless it is later already or the context has ended. Only the goroutine that makes the call
// calls it.
func (b *bounded) extend(deadline time.Time) {
	if !deadline.After(b.deadline) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deadline = deadline // the timer finds it later when it expires
}

// cancelled reports whether the parent has ended, without a look at the clock.
func (b *bounded) cancelled() bool { return b.Context.Err() != nil }

// Done implements [context.Context].
func (b *bounded) Done() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waitLocked().done
}

// AfterFunc is what [context.AfterFunc] and the contexts made from this one call: without it each of them would need a
// goroutine to wait for the end.
func (b *bounded) AfterFunc(call func()) (stop func() bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w, id := b.waitLocked(), &call
	if b.ended != nil {
		go call()
		return func() bool { return false }
	}
	if w.after == nil {
		w.after = map[*func()]struct{}{}
	}
	w.after[id] = struct{}{}
	return func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		_, waits := w.after[id]
		delete(w.after, id)
		return waits
	}
}

// waitLocked gets the context ready to be waited for.
func (b *bounded) waitLocked() *waited {
	if b.waited != nil {
		return b.waited
	}
	w := &waited{done: make(chan struct{})}
	if b.checkLocked() != nil {
		close(w.done)
	} else {
		w.timer = time.AfterFunc(time.Until(b.deadline), b.expire)
		w.follow = context.AfterFunc(b.Context, func() { b.end(b.Context.Err()) })
	}
	b.waited = w
	return w
}

// expire ends the context, or waits on when the deadline has moved.
func (b *bounded) expire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.checkLocked() == nil {
		b.waited.timer.Reset(time.Until(b.deadline))
	}
}

// release ends the context.
func (b *bounded) release() { b.end(context.Canceled) }

func (b *bounded) end(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endLocked(err)
}

// endLocked ends the context, unless it has ended.
func (b *bounded) endLocked(err error) {
	if b.ended != nil {
		return
	}
	b.ended = err
	w := b.waited
	if w == nil {
		return
	}
	close(w.done)
	w.timer.Stop()
	w.follow()
	for call := range w.after {
		go (*call)()
	}
	w.after = nil
}
