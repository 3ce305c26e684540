package runtime

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"

	"github.com/wasmres/wasmres/runtime/internal/forwarded"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/fastpath"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/https"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
)

// A Router finds the [Server] of a request, where one listener has several. It is safe for concurrent use.
type Router interface {
	// ServeHTTP answers any request, as with [Server.ServeHTTP] of one of the Servers.
	http.Handler
	// Find returns the Server by which ServeHTTP would answer a POST to a host and a path. It is nil if there is none, or
	// if ServeHTTP does more than that. host is the header Host as the client sent it, which the Server checks; path has
	// only letters, digits and "/-._~". Both are valid during the call. Find is called for each request and does not block.
	Find(host, path []byte) *Server
	// Close ends the streams and sessions of all Servers, as [Server.Close] does.
	Close() error
}

// TransportOptions say how to serve on a listener. The zero value is usable.
type TransportOptions struct {
	TLS            *tls.Config // as in ServerOptions
	MaxConnections int         // as in ServerOptions
	// Connections bounds the connections of several listeners together, those of streams included; nil for no such bound.
	Connections *Connections
	Drain       *Drain // lets another process have the listener; nil for never
	// TrustedProxies are the networks of proxies whose headers Forwarded and X-Forwarded-For say from which address a client
	// sends a request. The header of a client itself has no effect. If a request has both headers, and they name different
	// clients, its client is the proxy.
	TrustedProxies []netip.Prefix
	Logger         *slog.Logger // nil discards
}

// Deny answers a request of which no message was read with status 403 and the JSON-RPC error "denied". why is told to the client.
func Deny(w http.ResponseWriter, why error) {
	response.WriteJSON(w, http.StatusForbidden, mcp.AppendError(nil, nil, mcp.DeniedError(why)))
}

// Serve serves HTTP on l by the Servers of a router, until ctx ends. Then it closes l and the router, and returns nil:
// subscriptions end with their result, and requests under way have five seconds. A nil opts takes the defaults. Where
// several listeners share a router, each Serve closes it. A router with a method EndStreams() ends its streams by that when
// a Drain begins.
func Serve(ctx context.Context, l net.Listener, router Router, opts *TransportOptions) error {
	var o TransportOptions
	if opts != nil {
		o = *opts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	t, err := newTransport(endpoints{router}, o)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	began := o.Drain.join()
	left := make(chan struct{})
	go func() {
		defer close(left)
		select {
		case <-began:
			o.Drain.empty(ctx, t, router)
			stop()
		case <-ctx.Done():
			o.Drain.leave()
		}
	}()
	err = serveUntil(ctx, l, t, router.Close)
	stop()
	<-left
	return err
}

// newTransport makes what serves the endpoints of a router on a listener.
func newTransport(router fastpath.Router, o TransportOptions) (transport, error) {
	proxies := forwarded.New(o.TrustedProxies)
	if o.TLS != nil {
		return https.NewServer(router, https.Config{TLS: o.TLS, MaxConnections: o.MaxConnections, Shared: o.Connections.inner(), Proxies: proxies, Logger: o.Logger})
	}
	return fastpath.NewServer(router, fastpath.Config{MaxConnections: o.MaxConnections, Shared: o.Connections.inner(), Proxies: proxies, Logger: o.Logger})
}

// serveUntil serves on l until ctx ends. Then it ends what would stay open for ever, by end, and waits for the rest.
func serveUntil(ctx context.Context, l net.Listener, t transport, end func() error) error {
	served := make(chan error, 1)
	go func() { served <- t.Serve(l) }()
	select {
	case err := <-served:
		if err != nil {
			return fmt.Errorf("serve: %w", err)
		}
		<-ctx.Done() // the connections are emptied
		return shutDown(ctx, t, end)
	case <-ctx.Done():
	}
	return errors.Join(shutDown(ctx, t, end), <-served)
}

// shutDown takes no more connections, calls end, and waits for requests under way.
func shutDown(ctx context.Context, t transport, end func() error) error {
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- end() }()
	err := t.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("requests under way were cut off after %v", shutdownGrace)
	}
	return errors.Join(err, within(closeTime, "sessions", func() error { return <-ended }))
}

// endpoints is a Router as the transports see it.
type endpoints struct{ Router }

// Find implements [fastpath.Router].
func (e endpoints) Find(host, path []byte) (*streamable.Handler, bool) {
	s := e.Router.Find(host, path)
	if s == nil {
		return nil, false
	}
	return s.handler, true
}
