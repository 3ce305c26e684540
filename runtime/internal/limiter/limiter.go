// Package limiter decides which calls of one provider may run now.
//
// A call first waits for the calls of its session, then for its share of the processors, then for one of the slots. A
// call that waits for its session or for the processors holds no slot.
package limiter

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// Config has the limits of one provider.
type Config struct {
	Calls    int           // calls that run at once; at least 1
	MilliCPU uint32        // thousandths of a processor that all calls may use in the long run; 0 means no bound
	Timeout  time.Duration // how long a call waits for its session, and again for a slot
}

// A Limiter admits calls. It is safe for concurrent use.
type Limiter struct {
	// fixed at creation
	cfg     Config
	slots   chan struct{} // holds a token for each call that may begin
	full    string        // the message when there is none
	closing chan struct{} // closed when no call may begin any more

	sessions sessions
	cpu      cpuBudget
	slow     atomic.Int64 // calls whose readers are slow
}

// New makes a limiter that admits calls until Close.
func New(cfg Config) *Limiter {
	l := &Limiter{
		cfg: cfg, slots: make(chan struct{}, cfg.Calls), closing: make(chan struct{}),
		full: fmt.Sprintf("%d calls are running already", cfg.Calls), cpu: cpuBudget{milli: int64(cfg.MilliCPU)},
	}
	for range cfg.Calls {
		l.slots <- struct{}{}
	}
	return l
}

// A Ticket is the permission for one call. The zero Ticket is for a call without limits.
type Ticket struct {
	limiter *Limiter
	session *session // nil when the call has none
	slow    bool
}

// Enter waits until a call may run. Calls of one session run one after the other; an empty session is none. The caller
// must call Leave. The error is abi.CodeBusy with the time to retry after, abi.CodeUnavailable after Close, or that of
// ctx.
func (l *Limiter) Enter(ctx context.Context, session string) (Ticket, error) {
	if err := ctx.Err(); err != nil {
		return Ticket{}, err
	}
	s, err := l.lockSession(ctx, session)
	if err != nil {
		return Ticket{}, err
	}
	if err := l.enter(ctx); err != nil {
		l.sessions.unlock(s)
		return Ticket{}, err
	}
	return Ticket{limiter: l, session: s}, nil
}

// enter waits for the share of the processors and for a slot.
func (l *Limiter) enter(ctx context.Context) error {
	if l.cfg.MilliCPU == 0 {
		return l.await(ctx, l.slots, l.full)
	}
	for latest := time.Now().Add(l.cfg.Timeout); ; {
		if err := l.awaitCPU(ctx, latest); err != nil {
			return err
		}
		if err := l.await(ctx, l.slots, l.full); err != nil {
			return err
		}
		if l.cpu.delay() == 0 {
			return nil
		}
		l.slots <- struct{}{} // other calls have used the share meanwhile
	}
}

// Leave ends the call. busy is the processor time it used since it began.
func (t *Ticket) Leave(began time.Time, busy time.Duration) {
	l := t.limiter
	if t.slow {
		l.slow.Add(-1)
	}
	l.cpu.spend(began, busy)
	l.slots <- struct{}{}
	l.sessions.unlock(t.session)
}

// Charge counts processor time that was used for a call after it had ended, since began. Later calls wait for it.
func (l *Limiter) Charge(began time.Time, busy time.Duration) { l.cpu.spend(began, busy) }

// Slow marks the call as one with slow readers; further calls do nothing. At most half of the calls that may run at
// once may be slow; for a further one the error is abi.CodeBusy, and the call must end.
func (t *Ticket) Slow() error {
	if t.slow || t.limiter == nil {
		return nil
	}
	t.slow = true
	if most := max(1, t.limiter.cfg.Calls/2); t.limiter.slow.Add(1) > int64(most) {
		return abi.Busy(t.limiter.cfg.Timeout, "too many slow readers")
	}
	return nil
}

// Close waits for all calls that hold a ticket. Calls that wait get abi.CodeUnavailable. It may be called once.
func (l *Limiter) Close() {
	close(l.closing)
	for range cap(l.slots) {
		<-l.slots
	}
}

// await waits for a token, at most for Timeout; what is the message of the error then.
func (l *Limiter) await(ctx context.Context, tokens <-chan struct{}, what string) error {
	select {
	case <-l.closing:
		return errClosing()
	default:
	}
	select {
	case <-tokens:
		return nil
	default:
	}
	timer := time.NewTimer(l.cfg.Timeout)
	defer timer.Stop()
	select {
	case <-tokens:
		return nil
	case <-l.closing:
		return errClosing()
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return abi.Busy(l.cfg.Timeout, what)
	}
}

func errClosing() error { return abi.Errorf(abi.CodeUnavailable, "the provider is closing") }
