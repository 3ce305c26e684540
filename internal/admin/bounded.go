package admin

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A bounded listener has at most so many connections, and one more closes that which has waited longest for a request of a caller who
// may send one. So neither clients that say nothing nor strangers keep anyone out. While all have such a request, others wait in the
// queue of the kernel.
type bounded struct {
	net.Listener
	most int

	mu     sync.Mutex // guards the fields below
	free   *sync.Cond // a connection was closed or waits, or the listener was closed
	conns  map[*boundedConn]struct{}
	closed bool
}

func newBounded(l net.Listener, most int) *bounded {
	b := &bounded{Listener: l, most: most, conns: map[*boundedConn]struct{}{}}
	b.free = sync.NewCond(&b.mu)
	return b
}

// Accept implements [net.Listener].
func (b *bounded) Accept() (net.Conn, error) {
	raw, err := b.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &boundedConn{Conn: raw, of: b}
	c.waitsSince.Store(time.Now().UnixNano())
	excess, ok := b.add(c)
	if excess != nil {
		_ = excess.Conn.Close()
	}
	if !ok {
		_ = raw.Close()
		return nil, net.ErrClosed
	}
	return c, nil
}

// add waits until there is room for a connection, and gives the one that must be closed for it; nil for none. It is not ok if the
// listener was closed.
func (b *bounded) add(c *boundedConn) (excess *boundedConn, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.conns) >= b.most && !b.closed {
		if excess = b.longestLocked(); excess != nil {
			delete(b.conns, excess)
			break
		}
		b.free.Wait()
	}
	if b.closed {
		return excess, false
	}
	b.conns[c] = struct{}{}
	return excess, true
}

// longestLocked returns the connection that has waited longest; nil if none waits.
func (b *bounded) longestLocked() (longest *boundedConn) {
	var oldest int64
	for c := range b.conns {
		if since := c.waitsSince.Load(); since != 0 && (longest == nil || since < oldest) {
			longest, oldest = c, since
		}
	}
	return longest
}

// Close implements [net.Listener].
func (b *bounded) Close() error {
	b.mu.Lock()
	b.closed = true
	b.free.Broadcast()
	b.mu.Unlock()
	return b.Listener.Close()
}

// follow has the server of the listener say which connections wait for a request.
func (b *bounded) follow(server *http.Server) {
	server.ConnState = func(over net.Conn, state http.ConnState) {
		if c := boundedOf(over); c != nil && state == http.StateIdle {
			c.waitsSince.Store(time.Now().UnixNano())
			b.signal()
		}
	}
	next := server.ConnContext
	server.ConnContext = func(ctx context.Context, over net.Conn) context.Context {
		if next != nil {
			ctx = next(ctx, over)
		}
		return context.WithValue(ctx, connKey{}, boundedOf(over))
	}
}

// signal has Accept look again for room.
func (b *bounded) signal() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free.Signal()
}

// A boundedConn makes room for another one when it is closed.
type boundedConn struct {
	net.Conn
	of         *bounded
	waitsSince atomic.Int64 // when it began to wait for a request of a caller who may send one, in nanoseconds since 1970; 0 while it has one
}

// Close implements [net.Conn].
func (c *boundedConn) Close() error {
	err := c.Conn.Close()
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	delete(c.of.conns, c)
	c.of.free.Signal()
	return err
}

// boundedOf returns the connection below one of a server; nil for none.
func boundedOf(over net.Conn) *boundedConn {
	if t, ok := over.(*tls.Conn); ok {
		over = t.NetConn()
	}
	c, _ := over.(*boundedConn)
	return c
}

type connKey struct{}

// occupy says that the connection of a request has one of a caller who may send it.
func occupy(r *http.Request) {
	if c, _ := r.Context().Value(connKey{}).(*boundedConn); c != nil {
		c.waitsSince.Store(0)
	}
}
