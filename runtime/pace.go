package runtime

import (
	"context"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// burst is for how long calls may run ahead of their share of the processors.
const burst = 100 * time.Millisecond

// A pace holds calls to a share of the processors, in the long run. The zero pace holds nobody.
type pace struct {
	milli int64 // thousandths of a processor; 0 for as much as there is

	mu   sync.Mutex
	paid time.Time // when what was used until now is no more than the share; guarded by mu
}

// delay is how long a call must wait before it may begin.
func (p *pace) delay() time.Duration {
	if p.milli == 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(time.Until(p.paid.Add(-burst)), 0)
}

// spend counts what a call has used that began at some time.
func (p *pace) spend(began time.Time, busy time.Duration) {
	if p.milli == 0 || busy <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paid.Before(began) {
		p.paid = began
	}
	p.paid = p.paid.Add(busy * 1000 / time.Duration(p.milli))
}

// enter waits for a slot, with the call within its share of the processors. A call that waits for its share has no slot,
// so that slots are held by calls that run.
func (m *Module) enter(ctx context.Context) error {
	if m.pace.milli == 0 {
		return m.await(ctx, m.slots, m.crowded)
	}
	for latest := time.Now().Add(m.host.limits.Timeout); ; {
		if err := m.keepPace(ctx, latest); err != nil {
			return err
		}
		if err := m.await(ctx, m.slots, m.crowded); err != nil {
			return err
		}
		if m.pace.delay() == 0 {
			return nil
		}
		m.slots <- struct{}{} // other calls have used the share meanwhile
	}
}

// keepPace waits until the share of the processors permits a call, and no longer than until latest.
func (m *Module) keepPace(ctx context.Context, latest time.Time) error {
	for delay := m.pace.delay(); delay > 0; delay = m.pace.delay() {
		if delay > time.Until(latest) {
			e := m.host.busy("the provider has used its share of the processors")
			e.RetryAfter = delay
			return e
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-m.host.closing:
			timer.Stop()
			return errClosing()
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
	return nil
}

// waits reports whether a service waits for others, as for servers and databases, and takes no time of this machine.
func waits(id abi.Service) bool {
	switch id {
	case abi.ServiceHTTP, abi.ServiceStream, abi.ServiceSQL, abi.ServiceSQLRows:
		return true
	}
	return false
}

// Worked adds work that the caller of the guest has done for it while the guest ran on: it is of the guest's share.
func (c *Call) Worked(d time.Duration) { c.beside += d }

// busy is for how long the call has kept this machine busy, of the time since it began and beside it.
func (c *Call) busy(began time.Time) time.Duration {
	return time.Since(began) - c.Waited() - c.served + c.beside
}
