package runtime_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/certificate/certtest"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
)

// A sole is a Router of one Server.
type sole struct{ *runtime.Server }

func (s sole) Find(_, path []byte) *runtime.Server {
	if string(path) == "/mcp" {
		return s.Server
	}
	return nil
}

// A process that starts has connections closed on any listener, and as many as it needs: those that have waited for longest.
func TestConnectionsGiveProcessesTheirFiles(t *testing.T) {
	const each, spare = 9, 4
	connections := runtime.NewConnections(2*each+spare, nil)
	live, err := runtime.NewLive(runtime.LiveConfig{Connections: connections})
	if err != nil {
		t.Fatal(err)
	}
	h, err := runtime.NewHost(runtime.HostConfig{CacheDir: guesttest.CacheDir(t), Idle: time.Hour, Live: live})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	load := func() *runtime.Provider {
		p, err := h.Load(t.Context(), guesttest.Binary(t, "hello"), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		return p
	}
	first := load()
	ca := certtest.NewAuthority(t)
	var all []net.Conn
	for n, by := range map[int]*tls.Config{each: nil, spare: {Certificates: []tls.Certificate{ca.Issue(t, &x509.Certificate{})}}} {
		address := serveWith(t, &runtime.TransportOptions{TLS: by, Connections: connections})
		for range n {
			c, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			all = append(all, c)
		}
	}
	awaitOpen(t, all, each+spare)
	second := load()
	for _, p := range []*runtime.Provider{first, second} {
		if _, err := p.Read(t.Context(), "greeting://Ada"); err != nil {
			t.Error(err)
		}
	}
	awaitOpen(t, all, spare)
}

// serveWith serves a source until the test ends, and returns the address.
func serveWith(t *testing.T, opts *runtime.TransportOptions) string {
	t.Helper()
	server, err := runtime.NewServer(streamtest.Source(), &runtime.ServerOptions{Name: "test", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- runtime.Serve(ctx, l, sole{server}, opts) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// awaitOpen waits until the server has closed all connections but so many. Nothing is sent on them.
func awaitOpen(t *testing.T, all []net.Conn, want int) {
	t.Helper()
	n := 0
	for until := time.Now().Add(time.Minute); time.Now().Before(until); {
		n = 0
		for _, c := range all {
			_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
			if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
				n++
			}
		}
		if n == want {
			return
		}
	}
	t.Errorf("%d connections are open, want %d", n, want)
}
