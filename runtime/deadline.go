package runtime

import (
	"context"
	"sync"
	"time"
)

// A bounded context ends with its parent, at a deadline, or when it is released. It is [context.WithDeadline] that costs
// next to nothing until somebody waits for it: few calls do, and guests look at the clock in their ticks.
type bounded struct {
	context.Context // the parent
	began, deadline time.Time

	mu     sync.Mutex      // guards the fields below
	waited context.Context // what is waited for, which decides from then on; nil until somebody waits
	cancel context.CancelFunc
	ended  error // once it is known
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
func (b *bounded) Deadline() (time.Time, bool) { return b.deadline, true }

// Err implements [context.Context].
func (b *bounded) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.waited != nil:
		return b.waited.Err()
	case b.ended == nil && b.Context.Err() != nil:
		b.ended = b.Context.Err()
	case b.ended == nil && !time.Now().Before(b.deadline):
		b.ended = context.DeadlineExceeded
	}
	return b.ended
}

// extend moves the deadline, unless it is later already. It is called while nobody waits for the context to end, but for
// those who do so until it does anyway.
func (b *bounded) extend(deadline time.Time) {
	if !deadline.After(b.deadline) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deadline = deadline
	if b.waited == nil {
		return
	}
	sooner := b.cancel
	waited, cancel := context.WithDeadline(b.Context, deadline)
	b.waited, b.cancel = waited, func() { cancel(); sooner() }
}

// cancelled reports whether the parent has ended, without a look at the clock.
func (b *bounded) cancelled() bool { return b.Context.Err() != nil }

// Done implements [context.Context].
func (b *bounded) Done() <-chan struct{} {
	err := b.Err()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waited == nil {
		b.waited, b.cancel = context.WithDeadline(b.Context, b.deadline)
		if err != nil {
			b.cancel()
		}
	}
	return b.waited.Done()
}

// Value implements [context.Context]. Contexts made from this one find out by it that they need no goroutine to follow
// it.
func (b *bounded) Value(key any) any {
	b.mu.Lock()
	waited := b.waited
	b.mu.Unlock()
	if waited != nil {
		return waited.Value(key)
	}
	return b.Context.Value(key)
}

// release ends the context.
func (b *bounded) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cancel != nil {
		b.cancel()
	}
	if b.ended == nil {
		b.ended = context.Canceled
	}
}
