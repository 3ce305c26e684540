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
	connectTime = 10 * time.Second // to open a session
	resetTime   = 2 * time.Second  // to reset a session
	idleTime    = time.Minute      // after which an idle session is closed
)

// A pool has the sessions of one connection. A session is in use, in reset, or idle.
type pool struct {
	driver database.Driver
	slots  chan struct{} // has an element for each session that is not idle
	wait   time.Duration
	remote bool // a reset takes round trips to a server, so it runs in the background

	mu     sync.Mutex
	idle   []*idleSession // guarded by mu, as is closed; the most recently used at the end
	closed bool
	resets sync.WaitGroup
}

// An idleSession is closed after idleTime.
type idleSession struct {
	database.Session
	timer *time.Timer
}

func newPool(driver database.Driver, l Limits, remote bool) *pool {
	return &pool{driver: driver, slots: make(chan struct{}, l.Sessions), wait: l.Wait, remote: remote}
}

// acquire returns a session that is new or reset, and reports whether it was used before. The caller releases or drops
// it.
func (p *pool) acquire(ctx context.Context) (s database.Session, used bool, err error) {
	if err := p.acquireSlot(ctx); err != nil {
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
	return nil, false, withCode(err)
}

// withCode adds a code to an error of connecting, unless it has one.
func withCode(err error) error {
	var classified *abi.Error
	if errors.As(err, &classified) {
		return err
	}
	return abi.Errorf(abi.CodeUnavailable, "the database cannot be reached").Because(err)
}

// acquireSlot waits for a slot.
func (p *pool) acquireSlot(ctx context.Context) error {
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

// pop removes the most recently used idle session; nil when there is none.
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

// release accepts a session in any state, and resets it.
func (p *pool) release(s database.Session) {
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

// reset resets a session and makes it idle, or closes it.
func (p *pool) reset(s database.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), resetTime)
	defer cancel()
	if err := s.Reset(ctx); err != nil || !p.putIdle(s) {
		_ = s.Close()
	}
	<-p.slots
}

// putIdle makes a session idle, unless the pool is closed.
func (p *pool) putIdle(s database.Session) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	r := &idleSession{Session: s}
	r.timer = time.AfterFunc(idleTime, func() { p.expire(r) })
	p.idle = append(p.idle, r)
	return true
}

// expire closes a session, if it is still idle.
func (p *pool) expire(r *idleSession) {
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

// forget closes all idle sessions, as after a restart of the server.
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

// close closes all sessions. Those in use are closed when they are released, or at once if the driver can close them.
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
