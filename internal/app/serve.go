package app

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/runtime"
)

// ServeStdio serves one client until in or ctx ends.
func (a *App) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	server, err := a.openServer(nil, nil)
	if err != nil {
		return err
	}
	return server.ServeStdio(ctx, in, out)
}

// HTTPConfig says where and to which origins to serve.
type HTTPConfig struct {
	Addr           string               // HOST:PORT; port 0 takes any
	AllowedHosts   []string             // in addition to those of Server, and to the loopback names, if listening there
	AllowedOrigins []string             // of web pages, in addition to the server's own
	Insecure       bool                 // listen beyond this machine although clients are not authenticated
	Ready          func(bound net.Addr) // called when it listens; may be nil
}

// ServeHTTP serves any number of clients until ctx ends. Then it ends subscriptions with their result, and waits a few
// seconds for running requests.
func (a *App) ServeHTTP(ctx context.Context, cfg HTTPConfig) error {
	server, err := a.openServer(cfg.AllowedHosts, cfg.AllowedOrigins)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return err
	}
	if tcp, ok := listener.Addr().(*net.TCPAddr); ok {
		if err := CheckExposed(tcp.IP, &a.cfg.Server, cfg.Insecure); err != nil {
			return errors.Join(err, listener.Close())
		}
		a.warnExposed(tcp)
	}
	if cfg.Ready != nil {
		cfg.Ready(listener.Addr())
	}
	return server.Serve(ctx, listener)
}

// ErrExposed says that a server would serve every client of a network.
var ErrExposed = errors.New("every client that reaches the address could read all resources")

// CheckExposed returns ErrExposed for a server that listens on an address beyond this machine without authentication,
// unless that is wanted.
func CheckExposed(ip net.IP, o *runtime.ServerOptions, insecure bool) error {
	if insecure || o.Auth != nil || ip.IsLoopback() {
		return nil
	}
	return ErrExposed
}

// warnExposed logs what clients of a network, or people between them and the server, may read.
func (a *App) warnExposed(addr *net.TCPAddr) {
	switch {
	case addr.IP.IsLoopback():
	case a.cfg.Server.Auth == nil:
		a.cfg.Logger.Warn("server has no authentication: every client that reaches the address can read all resources", "addr", addr.String())
	case a.cfg.Server.TLS == nil:
		a.cfg.Logger.Warn("tokens and answers are not encrypted: use --tls-cert, or a proxy that speaks HTTPS", "addr", addr.String())
	}
}

// openServer makes the server, and logs isolation and missing grants for the operator.
func (a *App) openServer(hosts, origins []string) (*runtime.Server, error) {
	for _, one := range a.each() {
		one.logIsolation()
		one.WarnMissingGrants()
	}
	opts := a.cfg.Server
	opts.AllowedHosts, opts.AllowedOrigins, opts.Logger = slices.Concat(opts.AllowedHosts, hosts), origins, a.cfg.Logger
	return a.newServer(opts)
}

// logIsolation logs where guests run, and a slower reset mode.
func (a *App) logIsolation() {
	info := a.provider.Info()
	if info.ResetNote != "" {
		a.cfg.Logger.Warn("instances are reset in a slower way", "mode", string(info.Reset), "err", info.ResetNote)
	}
	if info.Isolation == runtime.IsolateNone {
		a.cfg.Logger.Info("guests run in this process", "isolation", info.Isolation.String())
		return
	}
	var on, spaces []string
	for _, layer := range info.Layers {
		if !layer.On {
			a.cfg.Logger.Warn("isolation layer is off", "layer", layer.Name, "err", layer.Detail)
		}
		on = append(on, layer.String())
	}
	for _, n := range info.Namespaces {
		if n.On {
			spaces = append(spaces, n.Kind)
		}
	}
	a.cfg.Logger.Info("guests run in a worker", "isolation", info.Isolation.String(), "layers", strings.Join(on, ", "),
		"namespaces", cmp.Or(strings.Join(spaces, " "), "none"))
}
