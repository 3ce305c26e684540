package streamable

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/internal/mcp/streamable/response"
)

const (
	defaultHeaderTimeout = 10 * time.Second
	defaultIdle          = 2 * time.Minute
	defaultMaxConns      = 10_000
	maxHeader            = 64 << 10 // bytes
)

// ServerConfig is what a Server needs. Handler is required.
type ServerConfig struct {
	Handler       *Handler
	HeaderTimeout time.Duration // for the head of a request; 0 means 10 s
	Idle          time.Duration // for the next request on a connection; 0 means 2 minutes
	// MaxConnections is how many connections may be open at once, streams of subscriptions aside; 0 means 10,000. One more
	// closes those that have waited longest for a request.
	MaxConnections int
	Logger         *slog.Logger // nil discards
}

// A Server serves a Handler by HTTP/1.1. Requests as clients usually send them are answered without net/http, to the
// same effect; it has all others.
type Server struct {
	// fixed at creation
	cfg     ServerConfig
	handler *Handler
	http    *http.Server
	clock   response.Clock

	stopping atomic.Bool

	mu     sync.Mutex // guards the fields below
	conns  map[*conn]struct{}
	counts map[string]int // of conns, by client
}

// NewServer makes a Server.
func NewServer(cfg ServerConfig) (*Server, error) {
	if cfg.Handler == nil || cfg.HeaderTimeout < 0 || cfg.Idle < 0 || cfg.MaxConnections < 0 {
		return nil, errors.New("streamable: a Handler is required, and neither times nor MaxConnections are negative")
	}
	if cfg.MaxConnections == 0 {
		cfg.MaxConnections = defaultMaxConns
	}
	if cfg.HeaderTimeout == 0 {
		cfg.HeaderTimeout = defaultHeaderTimeout
	}
	if cfg.Idle == 0 {
		cfg.Idle = defaultIdle
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: cfg, handler: cfg.Handler, conns: make(map[*conn]struct{}), counts: make(map[string]int)}
	s.http = &http.Server{
		Handler: cfg.Handler, ReadHeaderTimeout: cfg.HeaderTimeout, IdleTimeout: cfg.Idle, MaxHeaderBytes: maxHeader,
		ErrorLog:  slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelDebug),
		ConnState: func(c net.Conn, state http.ConnState) { c.(*conn).state(state) },
	}
	return s, nil
}

// Serve takes connections until Shutdown, which makes it return nil, or an error.
func (s *Server) Serve(l net.Listener) error {
	err := s.http.Serve(listener{l, s})
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Shutdown takes no more connections, ends subscriptions with their result, and waits for requests under way. Those that
// have not ended when ctx does are cut off.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.handler.Close()
	s.stopping.Store(true)
	for _, c := range s.open() {
		c.dismiss()
	}
	if late := errors.Join(s.http.Shutdown(ctx), s.drain(ctx)); late != nil {
		err = errors.Join(err, late, s.http.Close())
		s.cut()
	}
	return err
}

// drain waits for the requests that net/http does not know of.
func (s *Server) drain(ctx context.Context) error {
	idle := make(chan struct{})
	go func() { // ends when they have, which cut sees to
		defer close(idle)
		for _, c := range s.open() {
			_ = c.Close()
			c.await()
		}
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// cut ends all connections, whatever they do.
func (s *Server) cut() {
	for _, c := range s.open() {
		_ = c.Conn.Close()
	}
}

func (s *Server) open() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		list = append(list, c)
	}
	return list
}
