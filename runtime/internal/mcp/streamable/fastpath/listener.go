package fastpath

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
)

// A listener accepts connections for a Server.
type listener struct {
	net.Listener
	server *Server
}

// Accept implements [net.Listener]. When there are too many connections and all of them are busy, the new one is refused at once.
func (l listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &fastConn{
			Conn: raw, server: l.server, local: streamable.IPOf(raw.LocalAddr()),
			remote: raw.RemoteAddr().String(),
		}
		if peer := streamable.IPOf(raw.RemoteAddr()); l.server.cfg.Proxies.Trusts(peer) {
			c.proxy = peer // and client is empty, since it has many clients
		} else {
			c.client = mcp.ClientOf(c.remote)
		}
		c.writer = response.NewConn(raw, &c.writeDeadline, &l.server.clock)
		ok := l.server.cfg.Shared.Opened(l.server)
		for _, other := range l.server.add(c) {
			if other == c {
				ok = false
			} else {
				_ = other.Close()
			}
		}
		if ok {
			return c, nil
		}
		c.turnAway()
	}
}

// turnAwayTime bounds how long the listener waits for a client that it refuses.
const turnAwayTime = 10 * time.Millisecond

// turnAway tells a client that there are too many connections, and closes its own. A client that sends a request at the same time may learn
// no more than that it was closed.
func (c *fastConn) turnAway() {
	const text = "too many connections: try again later\n"
	_ = c.Conn.SetWriteDeadline(time.Now().Add(turnAwayTime))
	_, _ = fmt.Fprintf(c.Conn, "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Type: text/plain; charset=utf-8\r\n"+
		"Connection: close\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
	_ = c.Close()
}

// add adds a connection, and gives those that must be closed for it: itself if all others are busy.
func (s *Server) add(c *fastConn) (excess []*fastConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = struct{}{}
	s.counts[c.client]++
	s.drain.Opened()
	if len(s.conns) <= s.cfg.MaxConnections {
		return nil
	}
	if excess = s.idleLocked(max(1, s.cfg.MaxConnections/100)); len(excess) == 0 {
		return []*fastConn{c}
	}
	return excess
}

// CloseIdle implements [streamable.IdleCloser].
func (s *Server) CloseIdle(n int) int {
	s.mu.Lock()
	idle := s.idleLocked(n)
	s.mu.Unlock()
	for _, c := range idle {
		_ = c.Close()
	}
	return len(idle)
}

// idleLocked returns the idle connections to close first, up to n: those of clients with more than an equal share come first, and among
// them those that have waited longest for a request.
func (s *Server) idleLocked(n int) []*fastConn {
	type candidate struct {
		*fastConn
		since int64
		order int // 0 for a client with more than its share
	}
	var idle []candidate
	share := min(len(s.conns), s.cfg.MaxConnections) / max(len(s.counts), 1)
	for c := range s.conns {
		since := c.waitsSince.Load()
		switch {
		case since == 0:
		case c.client != "" && s.counts[c.client] > share:
			idle = append(idle, candidate{c, since, 0})
		default:
			idle = append(idle, candidate{c, since, 1})
		}
	}
	slices.SortFunc(idle, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.since, b.since))
	})
	var first []*fastConn
	for _, one := range idle[:min(len(idle), n)] {
		first = append(first, one.fastConn)
	}
	return first
}

// remove removes a connection, and reports whether it was there.
func (s *Server) remove(c *fastConn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.conns[c]; !open {
		return false
	}
	delete(s.conns, c)
	if s.counts[c.client]--; s.counts[c.client] == 0 {
		delete(s.counts, c.client)
	}
	s.drain.Closed()
	return true
}
