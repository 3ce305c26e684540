package runtime

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// A keeper has the instances of a module that are not at work. It is safe for concurrent use.
type keeper interface {
	// take gives an instance for a call of a session. Calls for which it would be the same instance come one after
	// another.
	take(ctx context.Context, session string) (*sandbox, error)
	// give takes the instance back as it is. It never waits.
	give(s *sandbox)
	// settle does what give left for later.
	settle()
	// end forgets a session.
	end(session string)
	// close releases all instances. All must have been given back.
	close()
}

// A pool gives every call an instance as it was when it was made from the image.
type pool struct {
	guests  *local
	tidying sync.WaitGroup // those who put instances back

	mu      sync.Mutex // guards the fields below
	clean   []*sandbox // the one used last is at the end
	used    []*sandbox
	sweep   *time.Timer // runs tidy; nil when there is nothing to wait for
	patient bool        // sweep is set for Limits.Idle
	closed  bool
}

// rest is how long an instance is unused before it gives back the memory it keeps for the next call.
const rest = time.Second

func newPool(l *local) *pool { return &pool{guests: l} }

func (p *pool) end(string) {}

func (p *pool) take(ctx context.Context, _ string) (*sandbox, error) {
	if s := p.pop(&p.clean); s != nil {
		return s, nil
	}
	for s := p.pop(&p.used); s != nil; s = p.pop(&p.used) {
		if p.restore(s) {
			return s, nil
		}
	}
	return p.guests.clone(ctx)
}

func (p *pool) give(s *sandbox) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pushLocked(&p.used, s)
}

// settle makes used instances clean. Where an instance cannot be put back, a new one takes its place, so that the
// next call need not wait for that; but none is booted, since guests run only in calls that were let in.
func (p *pool) settle() {
	if !p.beginTidying() {
		return
	}
	defer p.tidying.Done()
	for s := p.pop(&p.used); s != nil; s = p.pop(&p.used) {
		if !p.restore(s) {
			s = p.replacement()
		}
		if s != nil && !p.keep(s) {
			p.guests.discard(s, errEnough)
		}
	}
}

// replacement makes a new instance from the image; nil when it cannot. Whoever needs one next gets the error.
func (p *pool) replacement() *sandbox {
	if p.guests.image == nil {
		return nil
	}
	s, err := p.guests.clone(context.Background())
	if err != nil {
		return nil
	}
	return s
}

// keep adds a clean instance, unless there are as many as can be at work.
func (p *pool) keep(s *sandbox) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.clean) >= p.guests.Limits.Calls {
		return false
	}
	p.pushLocked(&p.clean, s)
	return true
}

var errEnough = errors.New("there are enough")

// beginTidying reports whether the pool is open, and keeps it from closing until tidying is done.
func (p *pool) beginTidying() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.tidying.Add(1)
	return true
}

// restore puts s back, or discards it.
func (p *pool) restore(s *sandbox) bool {
	var err error
	if p.guests.image == nil {
		err = errNoImage
	} else {
		err = s.reset()
	}
	if err != nil {
		p.guests.discard(s, err)
	}
	return err == nil
}

var errNoImage = errors.New("the guest has changed what cannot be put back while it started")

func (p *pool) pop(from *[]*sandbox) *sandbox {
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

// pushLocked adds s to a list, and sees to it that it is looked after in time.
func (p *pool) pushLocked(to *[]*sandbox, s *sandbox) {
	*to = append(*to, s)
	switch {
	case p.closed:
	case p.sweep == nil:
		p.sweep = time.AfterFunc(rest, p.tidy)
	case p.patient:
		p.sweep.Reset(rest)
	}
	p.patient = false
}

// tidy has instances that rest give back memory, and discards those nobody has needed for Limits.Idle.
func (p *pool) tidy() {
	if !p.beginTidying() {
		return
	}
	defer p.tidying.Done()
	p.settle()
	now := time.Now()
	idle := p.unusedSince(now.Add(-p.guests.Limits.Idle), func(*sandbox) bool { return true })
	p.guests.discardAll(idle, errIdle)
	resting := p.unusedSince(now.Add(-rest), func(s *sandbox) bool { return !s.resting })
	for _, s := range resting {
		if err := s.rest(); err != nil {
			p.guests.discard(s, err)
			continue
		}
		p.mu.Lock()
		p.clean = slices.Insert(p.clean, 0, s)
		p.mu.Unlock()
	}
	p.waitOn()
}

// unusedSince takes out the clean instances that have not been used since then and meet a condition.
func (p *pool) unusedSince(then time.Time, condition func(*sandbox) bool) (found []*sandbox) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clean = slices.DeleteFunc(p.clean, func(s *sandbox) bool {
		unused := !s.began.After(then) && condition(s)
		if unused {
			found = append(found, s)
		}
		return unused
	})
	return found
}

// waitOn sets the timer for when there is something to do again.
func (p *pool) waitOn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep = nil
	if p.closed || len(p.clean)+len(p.used) == 0 {
		return
	}
	p.patient = !slices.ContainsFunc(p.clean, func(s *sandbox) bool { return !s.resting }) && len(p.used) == 0
	wait := rest
	if p.patient {
		wait = p.guests.Limits.Idle
	}
	p.sweep = time.AfterFunc(wait, p.tidy)
}

func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.tidying.Wait()
	p.mu.Lock()
	if p.sweep != nil {
		p.sweep.Stop() // nobody sets it again
	}
	p.mu.Unlock()
	for _, list := range []*[]*sandbox{&p.clean, &p.used} {
		for s := p.pop(list); s != nil; s = p.pop(list) {
			p.guests.discard(s, errClosed)
		}
	}
}
