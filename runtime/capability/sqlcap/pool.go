package sqlcap

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
)

const (
	connectTime = 10 * time.Second // in which a session has to be opened
	resetTime   = 2 * time.Second  // in which one has to become as new
	idleTime    = time.Minute      // after which one that nobody uses is closed
)

// A pool keeps the sessions of one connection. A session is in use, becoming as new, or idle.
type pool struct {
	driver database.Driver
	slots  chan struct{} // holds a token for each session that is not idle
	wait   time.Duration
	remote bool // becoming as new takes trips to a server: nobody waits for it

	mu     sync.Mutex
	idle   []*resting // guarded by mu, as is closed; the one used last at the end
	closed bool
	resets sync.WaitGroup
}

// A resting session is closed when nobody wants it for a while.
type resting struct {
	database.Session
	timer *time.Timer
}

func newPool(driver database.Driver, l Limits, remote bool) *pool {
	return &pool{driver: driver, slots: make(chan struct{}, l.Sessions), wait: l.Wait, remote: remote}
}

// take gives a session that is as new, and says whether it has been used before. It goes back with give or drop.
func (p *pool) take(ctx context.Context) (s database.Session, used bool, err error) {
	if err := p.enter(ctx); err != nil {
		return nil, false, err
	}
	s, err = p.pop()
	if err != nil || s != nil {
		if err != nil {
			<-p.slots
		}
		return s, s != nil, err
	}
	connecting, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	s, err = p.driver.Connect(connecting)
	if err == nil {
		return s, false, nil
	}
	<-p.slots
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	return nil, false, asUnavailable(err)
}

// asUnavailable classifies what went wrong with connecting, if nobody has.
func asUnavailable(err error) error {
	var classified *abi.Error
	if errors.As(err, &classified) {
		return err
	}
	return abi.Errorf(abi.CodeUnavailable, "the database cannot be reached").Because(err)
}

// enter waits for a slot.
func (p *pool) enter(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(p.wait)
	defer timer.Stop()
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return abi.Errorf(abi.CodeUnavailable, "all sessions with the database are in use")
	}
}

// pop takes the idle session that was used last; nil when there is none.
func (p *pool) pop() (database.Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed()
	}
	last := len(p.idle) - 1
	if last < 0 {
		return nil, nil
	}
	r := p.idle[last]
	p.idle = p.idle[:last]
	r.timer.Stop()
	return r.Session, nil
}

func errClosed() error { return abi.Errorf(abi.CodeUnavailable, "the host is closing") }

// give takes a session back, whatever its state.
func (p *pool) give(s database.Session) {
	if !p.remote {
		p.reset(s)
		return
	}
	p.mu.Lock()
	closed := p.closed
	if !closed {
		p.resets.Add(1)
	}
	p.mu.Unlock()
	if closed {
		p.drop(s)
		return
	}
	go func() {
		defer p.resets.Done()
		p.reset(s)
	}()
}

// reset makes a session as new and puts it to rest, or closes it.
func (p *pool) reset(s database.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), resetTime)
	defer cancel()
	if err := s.Reset(ctx); err != nil || !p.rest(s) {
		_ = s.Close()
	}
	<-p.slots
}

// rest makes a session idle, unless the pool is closed.
func (p *pool) rest(s database.Session) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	r := &resting{Session: s}
	r.timer = time.AfterFunc(idleTime, func() { p.expire(r) })
	p.idle = append(p.idle, r)
	return true
}

// expire closes a session, if it is still idle.
func (p *pool) expire(r *resting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.idle {
		if p.idle[i] == r {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			p.resets.Go(func() { _ = r.Close() })
			return
		}
	}
}

// drop closes a session that is in use.
func (p *pool) drop(s database.Session) {
	_ = s.Close()
	<-p.slots
}

// forget closes all idle sessions, as when the server was started anew.
func (p *pool) forget() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, r := range idle {
		r.timer.Stop()
		_ = r.Close()
	}
}

// close closes all sessions but those in use, which are closed when they come back. A driver that can end those too does
// so.
func (p *pool) close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	var err error
	if driver, ok := p.driver.(io.Closer); ok {
		err = driver.Close()
	}
	p.forget()
	p.resets.Wait()
	return err
}
