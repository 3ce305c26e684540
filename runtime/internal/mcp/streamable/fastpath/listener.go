package fastpath

import (
	"cmp"
	"net"
	"slices"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
)

// A listener accepts connections for a Server.
type listener struct {
	net.Listener
	server *Server
}

// Accept implements [net.Listener]. When there are too many connections and all of them are busy, the new one is closed
// at once.
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
		excess := l.server.add(c)
		for _, other := range excess {
			_ = other.Close()
		}
		if !slices.Contains(excess, c) {
			return c, nil
		}
	}
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
	if excess = s.idleLocked(); len(excess) == 0 {
		return []*fastConn{c}
	}
	return excess
}

// idleLocked returns the idle connections to close first, up to a hundredth of MaxConnections: those of clients with
// more than an equal share come first, and among them those that have waited longest for a request.
func (s *Server) idleLocked() []*fastConn {
	type candidate struct {
		*fastConn
		since int64
		order int // 0 for a client with more than its share
	}
	var idle []candidate
	share := s.cfg.MaxConnections / len(s.counts)
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
	for _, one := range idle[:min(len(idle), max(1, s.cfg.MaxConnections/100))] {
		first = append(first, one.fastConn)
	}
	return first
}

func (s *Server) remove(c *fastConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.conns[c]; !open {
		return
	}
	delete(s.conns, c)
	if s.counts[c.client]--; s.counts[c.client] == 0 {
		delete(s.counts, c.client)
	}
	s.drain.Closed()
}
