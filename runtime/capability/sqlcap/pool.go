package sqlcap

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
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
	idle   []idleSession // guarded by mu, as is closed; the most recently used at the end
	closed bool
	expiry *deadline.Watch // closes idle sessions
	resets sync.WaitGroup
}

// An idleSession is closed after idleTime.
type idleSession struct {
	database.Session
	since time.Time
}

func newPool(driver database.Driver, l Limits, remote bool) *pool {
	p := &pool{driver: driver, slots: make(chan struct{}, l.Sessions), wait: l.Wait, remote: remote}
	p.expiry = deadline.NewWatch(p.expire)
	return p
}

// acquire returns a session that is new or reset, and reports whether it was used before. The caller releases or drops
// it. It returns soon after ctx has ended.
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
	s, err = p.connect(ctx)
	return s, false, err
}

// connect opens a session in the slot of the caller, which it releases when it fails. Drivers of servers end with ctx. When
// another goes on after the end of ctx, it has the slot until it ends.
func (p *pool) connect(ctx context.Context) (database.Session, error) {
	if p.remote {
		return p.keepOrFree(p.open(ctx))
	}
	var s database.Session
	var err error
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		s, err = p.open(ctx)
	}()
	select {
	case <-opened:
		return p.keepOrFree(s, err)
	case <-ctx.Done():
		go func() {
			if <-opened; err == nil {
				_ = s.Close()
			}
			<-p.slots
		}()
		return nil, ctx.Err()
	}
}

// open opens a session.
func (p *pool) open(ctx context.Context) (database.Session, error) {
	connecting, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	s, err := p.driver.Connect(connecting)
	switch {
	case err == nil:
		return s, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case isOver(ctx):
		return nil, context.DeadlineExceeded
	}
	return nil, withCode(err)
}

// isOver reports whether the deadline of ctx has passed. The timer of a dialer may end before that of ctx, which has the same time.
func isOver(ctx context.Context) bool {
	end, ok := ctx.Deadline()
	return ok && !time.Now().Before(end)
}

// keepOrFree releases the slot of a session that could not be opened.
func (p *pool) keepOrFree(s database.Session, err error) (database.Session, error) {
	if err != nil {
		<-p.slots
	}
	return s, err
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
	s := p.idle[last].Session
	p.idle[last] = idleSession{}
	p.idle = p.idle[:last]
	return s, nil
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
	ctx := context.Background()
	if p.remote { // other sessions need no timer: they are reset in no time
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, resetTime)
		defer cancel()
	}
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
	p.idle = append(p.idle, idleSession{s, time.Now()})
	p.expiry.Start(p.idle[0].since.Add(idleTime))
	return true
}

// expire closes the sessions that have been idle for idleTime.
func (p *pool) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	expired := 0
	for _, r := range p.idle {
		if time.Since(r.since) < idleTime {
			p.expiry.Start(r.since.Add(idleTime))
			break
		}
		p.resets.Go(func() { _ = r.Close() })
		expired++
	}
	p.idle = slices.Delete(p.idle, 0, expired)
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
