package pool

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/instance"
)

// A freshPool gives every call an instance that is equal to the image.
type freshPool struct {
	factory     *instance.Factory
	maintenance sync.WaitGroup // goroutines that reset instances

	mu       sync.Mutex           // guards the fields below
	idle     []*instance.Instance // the one used last is at the end
	used     []*instance.Instance
	sweep    *time.Timer // runs maintain; nil when there is nothing to wait for
	idleOnly bool        // sweep is set for Limits.Idle
	closed   bool
}

// trimAfter is how long an instance is unused before it releases the memory for its next call.
const trimAfter = time.Second

func newFresh(f *instance.Factory) *freshPool { return &freshPool{factory: f} }

func (p *freshPool) endSession(string) {}

func (p *freshPool) acquire(ctx context.Context, _ string) (*instance.Instance, error) {
	if s := p.pop(&p.idle); s != nil {
		return s, nil
	}
	for s := p.pop(&p.used); s != nil; s = p.pop(&p.used) {
		if p.restore(s) {
			return s, nil
		}
	}
	return p.factory.New(ctx)
}

func (p *freshPool) release(s *instance.Instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pushLocked(&p.used, s)
}

// resetUsed makes used instances idle. If one cannot be reset, it makes a new one from the image, so that the next call
// need not wait. It boots none, since code of the guest may run only in calls that the limiter admitted.
func (p *freshPool) resetUsed() {
	if !p.beginMaintenance() {
		return
	}
	defer p.maintenance.Done()
	for s := p.pop(&p.used); s != nil; s = p.pop(&p.used) {
		if !p.restore(s) {
			s = p.replacement()
		}
		if s != nil && !p.keep(s) {
			p.factory.Discard(s, errPoolFull)
		}
	}
}

// replacement makes a new instance from the image; nil when it cannot. The next call that needs an instance gets the error.
func (p *freshPool) replacement() *instance.Instance {
	if !p.factory.HasImage() {
		return nil
	}
	s, err := p.factory.New(context.Background())
	if err != nil {
		return nil
	}
	return s
}

// keep adds an idle instance, unless there are as many as may run at once.
func (p *freshPool) keep(s *instance.Instance) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) >= p.factory.Limits.Calls {
		return false
	}
	p.pushLocked(&p.idle, s)
	return true
}

// beginMaintenance returns false if the freshPool is closed; otherwise closing waits until maintenance is done.
func (p *freshPool) beginMaintenance() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.maintenance.Add(1)
	return true
}

// restore resets s, or discards it.
func (p *freshPool) restore(s *instance.Instance) bool {
	err := s.Reset()
	if err != nil {
		p.factory.Discard(s, err)
	}
	return err == nil
}

func (p *freshPool) pop(from *[]*instance.Instance) *instance.Instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(*from) - 1
	if last < 0 {
		return nil
	}
	s := (*from)[last]
	(*from)[last] = nil
	*from = (*from)[:last]
	return s
}

// pushLocked adds s to a list, and schedules its maintenance.
func (p *freshPool) pushLocked(to *[]*instance.Instance, s *instance.Instance) {
	*to = append(*to, s)
	switch {
	case p.closed:
	case p.sweep == nil:
		p.sweep = time.AfterFunc(trimAfter, p.maintain)
	case p.idleOnly:
		p.sweep.Reset(trimAfter)
	}
	p.idleOnly = false
}

// maintain releases memory of unused instances, and discards those that were not used for Limits.Idle.
func (p *freshPool) maintain() {
	if !p.beginMaintenance() {
		return
	}
	defer p.maintenance.Done()
	p.resetUsed()
	now := time.Now()
	unused := p.takeIdleSince(now.Add(-p.factory.Limits.Idle), func(*instance.Instance) bool { return true })
	p.factory.DiscardAll(unused, errIdle)
	trimmed := p.takeIdleSince(now.Add(-trimAfter), func(s *instance.Instance) bool { return !s.IsTrimmed() })
	for _, s := range trimmed {
		if err := s.Trim(); err != nil {
			p.factory.Discard(s, err)
			continue
		}
		p.mu.Lock()
		p.idle = slices.Insert(p.idle, 0, s)
		p.mu.Unlock()
	}
	p.scheduleMaintenance()
}

// takeIdleSince removes and returns the idle instances that have not been used since then and meet a condition.
func (p *freshPool) takeIdleSince(then time.Time, condition func(*instance.Instance) bool) (found []*instance.Instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = slices.DeleteFunc(p.idle, func(s *instance.Instance) bool {
		unused := !s.LastUsed().After(then) && condition(s)
		if unused {
			found = append(found, s)
		}
		return unused
	})
	return found
}

// scheduleMaintenance sets the timer for the next maintenance.
func (p *freshPool) scheduleMaintenance() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep = nil
	if p.closed || len(p.idle)+len(p.used) == 0 {
		return
	}
	p.idleOnly = !slices.ContainsFunc(p.idle, func(s *instance.Instance) bool { return !s.IsTrimmed() }) && len(p.used) == 0
	wait := trimAfter
	if p.idleOnly {
		wait = p.factory.Limits.Idle
	}
	p.sweep = time.AfterFunc(wait, p.maintain)
}

func (p *freshPool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.maintenance.Wait()
	p.mu.Lock()
	if p.sweep != nil {
		p.sweep.Stop() // a closed pool does not set it again
	}
	p.mu.Unlock()
	for _, list := range []*[]*instance.Instance{&p.idle, &p.used} {
		for s := p.pop(list); s != nil; s = p.pop(list) {
			p.factory.Discard(s, errClosed)
		}
	}
}
