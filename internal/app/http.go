package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/mcp/streamable"
)

// HTTPConfig says where to serve.
type HTTPConfig struct {
	Addr           string               // HOST:PORT; port 0 takes any
	AllowedHosts   []string             // beside the loopback names, when listening there
	AllowedOrigins []string             // of web pages, beside the server's own
	Ready          func(bound net.Addr) // called once it listens; nil for nothing
}

// shutdownGrace is how long requests under way may still take.
const shutdownGrace = 5 * time.Second

// ServeHTTP speaks MCP with any number of clients until ctx ends. Subscriptions then end with their result, and
// requests under way are given a few seconds.
func (a *App) ServeHTTP(ctx context.Context, cfg HTTPConfig) (err error) {
	core, old, err := a.openFronts()
	if err != nil {
		return err
	}
	endSessions := sync.OnceValue(old.Close)
	defer func() { err = errors.Join(err, within(closeTime, "sessions", endSessions)) }()
	handler, err := streamable.New(streamable.Config{
		Core: core, Legacy: old, AllowedHosts: cfg.AllowedHosts, AllowedOrigins: cfg.AllowedOrigins, Logger: a.cfg.Logger,
	})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return err
	}
	if tcp, ok := listener.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		a.cfg.Logger.Warn("anybody who can reach this address can read the provider's resources: there is no authentication", "addr", listener.Addr().String())
	}
	if cfg.Ready != nil {
		cfg.Ready(listener.Addr())
	}
	server, err := streamable.NewServer(streamable.ServerConfig{
		Handler: handler, MaxConnections: a.cfg.MaxConnections, Logger: a.cfg.Logger,
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	return serveUntil(ctx, server, listener, endSessions)
}

// serveUntil serves until ctx ends, then takes no more connections, ends what would stay open for ever, and waits for
// the rest, no longer than shutdownGrace and closeTime.
func serveUntil(ctx context.Context, server *streamable.Server, listener net.Listener, endSessions func() error) error {
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	sessions := make(chan error, 1)
	go func() { sessions <- endSessions() }()
	err := server.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("requests under way were cut off after %v", shutdownGrace)
	}
	err = errors.Join(err, <-served)
	return errors.Join(err, within(closeTime, "sessions", func() error { return <-sessions }))
}
