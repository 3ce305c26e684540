// Package https serves endpoints of package streamable by TLS: HTTP/2, and HTTP/1.1, by net/http alone. The fast path reads
// requests before net/http does, and knows neither TLS nor HTTP/2.
package https

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/forwarded"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
)

const (
	headerTimeout   = 10 * time.Second // for a handshake, and for the head of a request
	idle            = 2 * time.Minute  // for the next request on a connection
	maxHeader       = 64 << 10         // bytes
	defaultMaxConns = 10_000
)

// A Handler serves requests. Close ends its subscriptions, and waits for that.
type Handler interface {
	http.Handler
	Close() error
}

// Config is what a Server needs. TLS is required.
type Config struct {
	TLS *tls.Config
	// MaxConnections is how many connections may be open at once, but for those of subscriptions over HTTP/1.1; 0 means
	// 10,000. One more closes the one that has waited longest for a request or, if all are busy, is closed itself.
	MaxConnections int
	Shared         *streamable.Connections // bounds those of several servers, streams included; nil for no such bound
	Proxies        *forwarded.Proxies      // say for which clients they pass requests on; nil trusts none
	Logger         *slog.Logger            // nil discards
}

// A Server serves a Handler.
type Server struct {
	handler Handler
	http    *http.Server
	drain   *streamable.Drain
	most    int
	shared  *streamable.Connections

	mu    sync.Mutex // guards the fields below
	conns map[*conn]struct{}
}

// NewServer makes a Server. Shutdown closes the handler.
func NewServer(handler Handler, cfg Config) (*Server, error) {
	if handler == nil || cfg.TLS == nil || cfg.MaxConnections < 0 {
		return nil, errors.New("https: a Handler and a TLS configuration are required, and MaxConnections is not negative")
	}
	if cfg.MaxConnections == 0 {
		cfg.MaxConnections = defaultMaxConns
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{handler: handler, drain: streamable.NewDrain(), most: cfg.MaxConnections, shared: cfg.Shared, conns: make(map[*conn]struct{})}
	s.http = &http.Server{
		Handler: cfg.Proxies.Handler(s.drain.Handler(handler)), TLSConfig: cfg.TLS.Clone(), ReadHeaderTimeout: headerTimeout, IdleTimeout: idle, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelDebug), ConnState: s.setState,
	}
	return s, nil
}

// Serve accepts connections and closes l in the end. It returns nil after Leave or Shutdown was called, before that an error.
func (s *Server) Serve(l net.Listener) error {
	s.drain.Stop(l)
	err := s.http.ServeTLS(listener{l, s}, "", "")
	if errors.Is(err, http.ErrServerClosed) || s.drain.HasBegun() {
		return nil
	}
	return err
}

// Leave accepts no more connections, for another process accepts them. Each answer is the last one on its connection, and streams
// of sessions end. The caller calls Shutdown later.
func (s *Server) Leave() { s.drain.Begin() }

// Wait waits until no connection is open but those of subscriptions over HTTP/1.1, or ctx ends.
func (s *Server) Wait(ctx context.Context) { s.drain.Wait(ctx) }

// Shutdown accepts no more connections, ends subscriptions with their result, and waits for requests under way. Those that
// have not ended when ctx does are cut off.
func (s *Server) Shutdown(ctx context.Context) error {
	err := streamable.CloseUntil(ctx, s.handler)
	if late := s.http.Shutdown(ctx); late != nil {
		err = errors.Join(err, late, s.http.Close())
	}
	return err
}

// A conn is a connection below TLS.
type conn struct {
	net.Conn
	server     *Server
	waitsSince atomic.Int64 // when it began to wait for a handshake or a request, in nanoseconds since 1970; 0 while it is busy
	closed     atomic.Bool
}

// Close implements [net.Conn].
func (c *conn) Close() error {
	c.server.remove(c)
	if c.closed.CompareAndSwap(false, true) {
		defer c.server.shared.Closed(c.server)
	}
	return c.Conn.Close()
}

// setState follows what net/http does with a connection.
func (s *Server) setState(over net.Conn, state http.ConnState) {
	t, ok := over.(*tls.Conn)
	if !ok {
		return
	}
	c, ok := t.NetConn().(*conn)
	switch {
	case !ok:
	case state == http.StateHijacked:
		s.remove(c)
	case state == http.StateActive:
		c.waitsSince.Store(0)
	case state == http.StateIdle:
		c.waitsSince.Store(time.Now().UnixNano())
	}
}

// A listener accepts connections for a Server.
type listener struct {
	net.Listener
	server *Server
}

// Accept implements [net.Listener].
func (l listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: raw, server: l.server}
		c.waitsSince.Store(time.Now().UnixNano())
		ok := l.server.shared.Opened(l.server)
		excess := l.server.add(c)
		if excess != nil && excess != c {
			_ = excess.Close()
		}
		if ok && excess != c {
			return c, nil
		}
		_ = c.Close()
	}
}

// CloseIdle implements [streamable.IdleCloser].
func (s *Server) CloseIdle(n int) int {
	s.mu.Lock()
	var idle []*conn
	for c := range s.conns {
		if c.waitsSince.Load() != 0 {
			idle = append(idle, c)
		}
	}
	s.mu.Unlock()
	slices.SortFunc(idle, func(a, b *conn) int { return cmp.Compare(a.waitsSince.Load(), b.waitsSince.Load()) })
	idle = idle[:min(len(idle), n)]
	for _, c := range idle {
		_ = c.Close()
	}
	return len(idle)
}

// add adds a connection, and gives the one that must be closed for it; nil for none.
func (s *Server) add(c *conn) (excess *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = struct{}{}
	s.drain.Opened()
	if len(s.conns) <= s.most {
		return nil
	}
	excess = c // if no other one waits
	oldest := c.waitsSince.Load()
	for other := range s.conns {
		if since := other.waitsSince.Load(); since != 0 && since < oldest {
			excess, oldest = other, since
		}
	}
	return excess
}

func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.conns[c]; !open {
		return
	}
	delete(s.conns, c)
	s.drain.Closed()
}
