package streamable

import (
	"cmp"
	"net"
	"slices"

	"github.com/wasmres/wasmres/internal/mcp"
	"github.com/wasmres/wasmres/internal/mcp/streamable/response"
)

// A listener gives connections of a Server.
type listener struct {
	net.Listener
	server *Server
}

// Accept implements [net.Listener]. Where there are too many connections and all of them are busy, the next one is closed
// at once.
func (l listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: raw, server: l.server, local: ipOf(raw.LocalAddr()), from: mcp.ClientOf(raw.RemoteAddr().String())}
		c.writer = response.NewConn(raw, &c.wrote, &l.server.clock)
		crowded := l.server.enter(c)
		for _, other := range crowded {
			_ = other.Close()
		}
		if !slices.Contains(crowded, c) {
			return c, nil
		}
	}
}

// enter notes a connection, and gives those that are to be closed for it, itself among them if no other can be.
func (s *Server) enter(c *conn) (crowded []*conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = struct{}{}
	s.counts[c.from]++
	if len(s.conns) <= s.cfg.MaxConnections {
		return nil
	}
	if crowded = s.idleLocked(); len(crowded) == 0 {
		return []*conn{c}
	}
	return crowded
}

// idleLocked gives the connections that can best be spared, the hundredth part of all there may be: those that wait for
// a request, of clients with more than an equal share first, and among them those that have waited for longest.
func (s *Server) idleLocked() []*conn {
	type candidate struct {
		*conn
		since int64
		greed int // 0 for a client with more than its share, which comes first
	}
	var idle []candidate
	share := s.cfg.MaxConnections / len(s.counts)
	for c := range s.conns {
		since := c.since.Load()
		switch {
		case since == 0:
		case c.from != "" && s.counts[c.from] > share:
			idle = append(idle, candidate{c, since, 0})
		default:
			idle = append(idle, candidate{c, since, 1})
		}
	}
	slices.SortFunc(idle, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.greed, b.greed), cmp.Compare(a.since, b.since))
	})
	var spared []*conn
	for _, one := range idle[:min(len(idle), max(1, s.cfg.MaxConnections/100))] {
		spared = append(spared, one.conn)
	}
	return spared
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.conns[c]; !open {
		return
	}
	delete(s.conns, c)
	if s.counts[c.from]--; s.counts[c.from] == 0 {
		delete(s.counts, c.from)
	}
}
