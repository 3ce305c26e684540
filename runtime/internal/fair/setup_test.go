package fair_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/fair"
)

const ms = time.Millisecond

func newQueue(t testing.TB, cfg fair.Config) *fair.Queue {
	t.Helper()
	q, err := fair.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// An owner makes calls, as a tenant does. Its clock is that of all its calls, as that of a process is.
type owner struct {
	*fair.Share
	meter *fair.Meter // nil if its calls say themselves what they have used
	pause bool        // its calls can be paused

	mu   sync.Mutex
	used time.Duration
}

func newOwner(q *fair.Queue, weight int) *owner {
	o := &owner{Share: q.NewShare(weight)}
	return o
}

// metered gives the owner a clock of the kernel, and calls that can be paused.
func (o *owner) metered() *owner {
	o.meter, o.pause = o.NewMeter(func() (time.Duration, error) { return o.total(), nil }), true
	return o
}

func (o *owner) total() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.used
}

// A task computes in steps, and stands still when it is told to.
type task struct {
	mu   sync.Mutex
	goes *sync.Cond
	halt bool
}

func (k *task) Pause()    { k.set(true) }
func (k *task) Continue() { k.set(false) }

func (k *task) set(halt bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.halt = halt
	k.goes.Broadcast()
}

func (k *task) step() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.halt {
		k.goes.Wait()
	}
}

// call makes one call that takes so much processor time, in steps of at most 250 µs.
func (o *owner) call(ctx context.Context, takes, within time.Duration) error {
	k := &task{}
	k.goes = sync.NewCond(&k.mu)
	var turn fair.Turn
	if o.pause {
		turn.Init(o.Share, k)
	} else {
		turn.Init(o.Share, nil)
	}
	if err := turn.Enter(ctx, o.meter, within); err != nil {
		turn.Leave(0)
		return err
	}
	for left := takes; left > 0; {
		step := min(left, 250*time.Microsecond)
		k.step()
		time.Sleep(step)
		left -= step
		o.mu.Lock()
		o.used += step
		o.mu.Unlock()
	}
	turn.Leave(takes)
	return nil
}

// flood has so many callers make calls until ctx ends.
func (o *owner) flood(ctx context.Context, callers int, takes func(n int) time.Duration) (wait func()) {
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				if o.call(ctx, takes(n), time.Minute) != nil {
					time.Sleep(ms) // it was refused
				}
			}
		})
	}
	return all.Wait
}

func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }
