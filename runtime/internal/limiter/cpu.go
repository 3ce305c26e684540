package limiter

import (
	"context"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// burst is by how much time calls may exceed their share of the processors for a short while.
const burst = 100 * time.Millisecond

// A cpuBudget bounds the share of the processors that calls use in the long run. The zero value has no bound.
type cpuBudget struct {
	milli int64 // thousandths of a processor; 0 means no bound

	mu        sync.Mutex
	paidUntil time.Time // when the share covers all time used so far; guarded by mu
}

// delay returns how long a call must wait before it may begin.
func (b *cpuBudget) delay() time.Duration {
	if b.milli == 0 {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(time.Until(b.paidUntil.Add(-burst)), 0)
}

// spend adds the processor time of a call that began at that time.
func (b *cpuBudget) spend(began time.Time, busy time.Duration) {
	if b.milli == 0 || busy <= 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.paidUntil.Before(began) {
		b.paidUntil = began
	}
	b.paidUntil = b.paidUntil.Add(busy * 1000 / time.Duration(b.milli))
}

// awaitCPU waits until the share of the processors permits a call, at most until latest.
func (l *Limiter) awaitCPU(ctx context.Context, latest time.Time) error {
	for delay := l.cpu.delay(); delay > 0; delay = l.cpu.delay() {
		if delay > time.Until(latest) {
			return abi.Busy(delay, "the provider has used its share of the processors")
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-l.closing:
			timer.Stop()
			return errClosing()
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
	return nil
}
