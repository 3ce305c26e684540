package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// ProbeConfig configures Probes.
type ProbeConfig struct {
	// NotReady says why the server takes no clients, as while it starts or drains; none if it does. Nil is none.
	NotReady func() []string
	// Problems says what is wrong with a server that takes clients all the same. Nil is nothing.
	Problems func() []string
	Metrics  http.Handler // nil has no metrics
	Logger   *slog.Logger // nil discards
}

// Probes tell how a server is: /healthz answers while the process lives, /readyz while it takes clients, and /metrics is for
// Prometheus. They need no credential: listen where only the operator's programs can reach them.
type Probes struct {
	cfg     ProbeConfig
	handler http.Handler
}

// NewProbes makes Probes.
func NewProbes(cfg ProbeConfig) *Probes {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Problems == nil {
		cfg.Problems = func() []string { return nil }
	}
	if cfg.NotReady == nil {
		cfg.NotReady = func() []string { return nil }
	}
	p := &Probes{cfg: cfg}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", p.health)
	mux.HandleFunc("GET /readyz", p.ready)
	if cfg.Metrics != nil {
		mux.Handle("GET /metrics", cfg.Metrics)
	}
	p.handler = mux
	return p
}

// Serve serves HTTP on l until ctx ends. Then it closes l.
func (p *Probes) Serve(ctx context.Context, l net.Listener) error {
	return serveUntil(ctx, httpServer(p, p.cfg.Logger), l, nil)
}

// ServeHTTP implements [http.Handler]. On a loopback address it refuses other names in the header Host: a web page could
// have the browser of the operator ask under a name of its own.
func (p *Probes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !namesThisMachine(r) {
		http.Error(w, "this address answers to its IP address and localhost only", http.StatusMisdirectedRequest)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 0)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	p.handler.ServeHTTP(w, r)
}

func namesThisMachine(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if local == nil || !local.IP.IsLoopback() {
		return true
	}
	name := r.Host
	if host, _, err := net.SplitHostPort(name); err == nil {
		name = host
	}
	_, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return err == nil || strings.EqualFold(name, "localhost")
}

func (p *Probes) health(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }

// maxProblems bounds how many problems /readyz says.
const maxProblems = 20

func (p *Probes) ready(w http.ResponseWriter, _ *http.Request) {
	reasons := p.cfg.NotReady()
	if len(reasons) == 0 {
		fmt.Fprintln(w, "ready")
		for i, problem := range p.cfg.Problems() {
			if i == maxProblems {
				fmt.Fprintln(w, "and more")
				break
			}
			fmt.Fprintln(w, "problem: "+problem)
		}
		return
	}
	http.Error(w, "not ready: "+strings.Join(reasons, "; "), http.StatusServiceUnavailable)
}

// ListenProbes listens on a TCP address. An address without a host is one of this machine only.
func ListenProbes(ctx context.Context, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("admin address %q: write it as HOST:PORT, as in 127.0.0.1:9090", address)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		var at *net.OpError
		if errors.As(err, &at) {
			err = at.Err
		}
		return nil, fmt.Errorf("admin address %s: %w", address, err)
	}
	return l, nil
}
