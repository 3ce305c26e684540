package runtime

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// keeper has the instances of a module that are not at work. It is safe for concurrent use.
type keeper interface {
	// take gives an instance to whoever asks for a session, which may mean nothing to the keeper.
	take(ctx context.Context, session string) (*sandbox, error)
	// give takes it back as it is. It never waits.
	give(s *sandbox)
	// settle does what give left for later.
	settle()
	// close releases all instances. None may be taken any more, and all must have been given back.
	close()
}

// A pool gives every call an instance as it was when it was made from the image.
type pool struct {
	module  *Module
	tidying sync.WaitGroup // those who put instances back

	mu     sync.Mutex // guards the fields below
	clean  []*sandbox // the one used last is at the end
	used   []*sandbox
	sweep  *time.Timer // runs tidy; nil when there is nothing to wait for
	closed bool
}

// rest is how long an instance is unused before it gives back the memory it keeps for the next call.
const rest = time.Second

func newPool(m *Module) *pool { return &pool{module: m} }

func (p *pool) take(ctx context.Context, _ string) (*sandbox, error) {
	if s := p.pop(&p.clean); s != nil {
		return s, nil
	}
	for s := p.pop(&p.used); s != nil; s = p.pop(&p.used) {
		if p.restore(s) {
			return s, nil
		}
	}
	return p.module.clone(ctx)
}

func (p *pool) give(s *sandbox) { p.push(&p.used, s) }

// settle makes used instances clean. Where an instance cannot be put back, a new one takes its place, so that the
// next call need not wait for that.
func (p *pool) settle() {
	if !p.beginTidying() {
		return
	}
	defer p.tidying.Done()
	for s := p.pop(&p.used); s != nil; s = p.pop(&p.used) {
		if p.restore(s) {
			p.push(&p.clean, s)
			continue
		}
		s, err := p.module.clone(context.Background())
		if err != nil {
			p.module.cfg.Logger.Warn("no spare instance", "err", clip(err))
			continue // the next call gets the error
		}
		p.push(&p.clean, s)
	}
}

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
	if p.module.image == nil {
		err = errNoImage
	} else {
		err = s.reset()
	}
	if err != nil {
		p.module.discard(s, err)
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

func (p *pool) push(to *[]*sandbox, s *sandbox) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*to = append(*to, s)
	if p.sweep == nil && !p.closed {
		p.sweep = time.AfterFunc(min(rest, p.module.cfg.Limits.Idle), p.tidy)
	}
}

// tidy has instances that rest give back memory, and discards those nobody has needed for Limits.Idle.
func (p *pool) tidy() {
	if !p.beginTidying() {
		return
	}
	defer p.tidying.Done()
	p.settle()
	now := time.Now()
	for s := p.unusedSince(now.Add(-p.module.cfg.Limits.Idle)); s != nil; s = p.unusedSince(now.Add(-p.module.cfg.Limits.Idle)) {
		p.module.discard(s, errIdle)
	}
	p.trim(now.Add(-rest))
	p.waitOn()
}

var errIdle = errors.New("not used for long")

// unusedSince takes out a clean instance that has not been used since then; the longest unused is at the front.
func (p *pool) unusedSince(then time.Time) *sandbox {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.clean) == 0 || p.clean[0].used.After(then) {
		return nil
	}
	s := p.clean[0]
	p.clean = slices.Delete(p.clean, 0, 1)
	return s
}

// trim has the clean instances not used since then give back memory. It holds the lock meanwhile, which is short: there
// is little to give back, and nobody is in a hurry when instances rest.
func (p *pool) trim(then time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.clean {
		if s.used.After(then) {
			return
		}
		if s.memory.Kept() == 0 {
			continue
		}
		if err := s.memory.Trim(); err != nil { // its next reset will fail, and discard it
			p.module.cfg.Logger.Warn("instance keeps memory while it rests", "err", err)
		}
	}
}

// waitOn sets the timer for when there is something to do again.
func (p *pool) waitOn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep = nil
	if p.closed || len(p.clean)+len(p.used) == 0 {
		return
	}
	wait := p.module.cfg.Limits.Idle
	if newest := p.clean; len(newest) > 0 && newest[len(newest)-1].memory.Kept() > 0 {
		wait = min(wait, rest)
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
			p.module.discard(s, errClosed)
		}
	}
}

var errClosed = errors.New("the module is closing")
