package fastpath

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/forwarded"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
)

const (
	defaultHeaderTimeout = 10 * time.Second
	defaultIdle          = 2 * time.Minute
	defaultMaxConns      = 10_000
	maxHeader            = 64 << 10 // bytes
)

// A Router is the handler of a Server: one endpoint, as a [streamable.Handler] is, or several.
type Router interface {
	http.Handler
	// Find returns the endpoint that ServeHTTP would have serve a POST to a host and path. It reports false if there is
	// none, or if ServeHTTP does more than that. host is the header Host as the client sent it, which the endpoint
	// checks; path has only letters, digits and "/-._~". Both are valid during the call. Find is called for each
	// request, by any goroutine, and does not block.
	Find(host, path []byte) (*streamable.Handler, bool)
	// Close ends the subscriptions of all endpoints, and waits for that. Other requests are answered after it, too.
	Close() error
}

var _ Router = (*streamable.Handler)(nil)

// Config is what a Server may be told. The zero Config is ready for use; nothing in it is negative.
type Config struct {
	HeaderTimeout time.Duration // for the head of a request; 0 means 10 s
	Idle          time.Duration // for the next request on a connection; 0 means 2 minutes
	// MaxConnections is how many connections may be open at once, but for those of subscriptions; 0 means 10,000. One more
	// closes those that have waited longest for a request.
	MaxConnections int
	Shared         *streamable.Connections // bounds those of several servers, streams included; nil for no such bound
	Proxies        *forwarded.Proxies      // say for which clients they pass requests on; nil trusts none
	Logger         *slog.Logger            // nil discards
}

func (c *Config) fill() error {
	if c.HeaderTimeout < 0 || c.Idle < 0 || c.MaxConnections < 0 {
		return errors.New("fastpath: HeaderTimeout, Idle or MaxConnections is negative")
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = defaultMaxConns
	}
	if c.HeaderTimeout == 0 {
		c.HeaderTimeout = defaultHeaderTimeout
	}
	if c.Idle == 0 {
		c.Idle = defaultIdle
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// A Server serves a Router by HTTP/1.1.
type Server struct {
	// fixed at creation
	cfg    Config
	router Router
	http   *http.Server

	drain *streamable.Drain

	clock    response.Clock
	stopping atomic.Bool

	mu     sync.Mutex // guards the fields below
	conns  map[*fastConn]struct{}
	counts map[string]int // of conns, by client
}

// NewServer makes a Server. Shutdown closes the router.
func NewServer(router Router, cfg Config) (*Server, error) {
	if router == nil {
		return nil, errors.New("fastpath: a Router is required")
	}
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, router: router, drain: streamable.NewDrain(), conns: make(map[*fastConn]struct{}), counts: make(map[string]int)}
	s.http = &http.Server{
		Handler: cfg.Proxies.Handler(s.drain.Handler(router)), ReadHeaderTimeout: cfg.HeaderTimeout, IdleTimeout: cfg.Idle, MaxHeaderBytes: maxHeader,
		ErrorLog:  slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelDebug),
		ConnState: func(c net.Conn, state http.ConnState) { c.(*fastConn).setState(state) },
	}
	return s, nil
}

// Serve accepts connections and closes l in the end. It returns nil after Leave or Shutdown was called, before that an error.
func (s *Server) Serve(l net.Listener) error {
	s.drain.Stop(l)
	err := s.http.Serve(listener{l, s})
	if errors.Is(err, http.ErrServerClosed) || s.drain.HasBegun() {
		return nil
	}
	return err
}

// Leave accepts no more connections, for another process accepts them. Requests on those that are open are answered by net/http,
// the last of each with the header "Connection: close". Streams of sessions end. The caller calls Shutdown later.
func (s *Server) Leave() { s.drain.Begin() }

// Wait waits until no connection is open but those of subscriptions, or ctx ends.
func (s *Server) Wait(ctx context.Context) { s.drain.Wait(ctx) }

// Shutdown accepts no more connections, ends subscriptions with their result, and waits for requests under way. Those
// that have not ended when ctx does are cut off.
func (s *Server) Shutdown(ctx context.Context) error {
	err := streamable.CloseUntil(ctx, s.router)
	s.stopping.Store(true)
	for _, c := range s.open() {
		c.closeIdle()
	}
	if late := errors.Join(s.http.Shutdown(ctx), s.waitAnswered(ctx)); late != nil {
		err = errors.Join(err, late, s.http.Close())
		s.closeAll()
	}
	return err
}

// waitAnswered waits for the requests that net/http has not seen.
func (s *Server) waitAnswered(ctx context.Context) error {
	idle := make(chan struct{})
	go func() { // ends when they have ended; closeAll makes them
		defer close(idle)
		for _, c := range s.open() {
			_ = c.Close()
			c.waitAnswered()
		}
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// closeAll closes all connections, even those with a request under way.
func (s *Server) closeAll() {
	for _, c := range s.open() {
		_ = c.Conn.Close()
	}
}

func (s *Server) open() []*fastConn {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*fastConn, 0, len(s.conns))
	for c := range s.conns {
		list = append(list, c)
	}
	return list
}
