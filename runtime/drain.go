package runtime

import (
	"context"
	"sync"
	"time"
)

// A Drain lets another process have the listeners of some calls of [Serve] without the loss of a request. Once it has begun,
// these calls accept no more connections: the other process, which has the same sockets, does. They end streams and answer the
// requests on connections that are open, the last one of each with "Connection: close". When no connection is left, or the
// time is over, they return as if their ctx had ended. The zero Drain has not begun.
type Drain struct {
	once sync.Once

	mu     sync.Mutex    // guards the fields below
	begun  chan struct{} // closed by Begin; nil before it is needed
	until  time.Time
	users  int
	served chan struct{} // closed when no user is left; nil before it is needed
}

// Begin begins the drain, which ends after limit at the latest. It is idempotent.
func (d *Drain) Begin(limit time.Duration) {
	d.once.Do(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.until = time.Now().Add(limit)
		close(d.beginLocked())
	})
}

func (d *Drain) beginLocked() chan struct{} {
	if d.begun == nil {
		d.begun = make(chan struct{})
	}
	return d.begun
}

// join adds a user. began is closed when the drain begins. The user calls leave once.
func (d *Drain) join() (began <-chan struct{}) {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.users++
	return d.beginLocked()
}

// leave removes a user whose connections are empty.
func (d *Drain) leave() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.users--; d.users == 0 && d.served != nil {
		close(d.served)
		d.served = nil
	}
}

// waitForAll waits until no user is left, or ctx ends.
func (d *Drain) waitForAll(ctx context.Context) {
	d.mu.Lock()
	if d.users == 0 {
		d.mu.Unlock()
		return
	}
	if d.served == nil {
		d.served = make(chan struct{})
	}
	served := d.served
	d.mu.Unlock()
	select {
	case <-served:
	case <-ctx.Done():
	}
}

// empty waits until the connections of a transport are empty, and then for those of the other users: the first one that is done
// must not close what they share.
func (d *Drain) empty(ctx context.Context, t transport, router any) {
	d.mu.Lock()
	until := d.until
	d.mu.Unlock()
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	t.Leave()
	if streams, ok := router.(interface{ EndStreams() }); ok {
		streams.EndStreams()
	}
	t.Wait(ctx)
	d.leave()
	d.waitForAll(ctx)
}
