package node_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/node"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime"
)

// BenchmarkCounting is the processor time of this process, client included, for a small read, the median of turns with a key: with ledger, usage and
// metrics, and traces off, as a server does it, and without all of these. Both serve the same tenant, by workers, and take turns.
func BenchmarkCounting(b *testing.B) {
	n, key := openCounted(b)
	plain, err := n.Uncounted()
	if err != nil {
		b.Fatal(err)
	}
	defer plain.Close()
	counted := newReader(b, key, func(ctx context.Context, l net.Listener) error { return n.Serve(ctx, l, nil) })
	without := newReader(b, key, func(ctx context.Context, l net.Listener) error {
		return runtime.Serve(ctx, l, plain, &runtime.TransportOptions{})
	})
	const reads, turns = 200, 100
	var with, bare, ratios []float64 // processor time of a read in microseconds, by turns
	for b.Loop() {
		for turn := range turns {
			var used [2]float64
			for i := range used {
				which := (i + turn) % 2 // either begins as often
				used[which] = []*reader{counted, without}[which].read(b, reads)
			}
			with, bare, ratios = append(with, used[0]), append(bare, used[1]), append(ratios, used[0]/used[1])
		}
	}
	b.ReportMetric(median(with), "with-us")
	b.ReportMetric(median(bare), "without-us")
	b.ReportMetric(median(ratios), "with/without")
	b.ReportMetric(0, "ns/op")
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// openCounted opens a server with a tenant, and returns a key of that.
func openCounted(b *testing.B) (*node.Node, string) {
	dir := filepath.Join(b.TempDir(), "data")
	write(b, filepath.Join(dir, "serve.yaml"), "plans: {default: {requests: {rate: 1000000/s}, principal_requests: {rate: 1000000/s}, bytes_out: {rate: 100Gi/s}}}\n")
	write(b, filepath.Join(dir, "tenants", "acme.yaml"), fmt.Sprintf("providers:\n  hello: {module: %q}\nroles:\n  reader: [{uris: [\"**\"]}]\n", guesttest.File(b, "hello")))
	s, err := tenant.ReadSettings(filepath.Join(dir, "serve.yaml"), dir)
	if err != nil {
		b.Fatal(err)
	}
	n, _, err := node.Open(b.Context(), node.Config{Settings: s, CacheDir: guesttest.CacheDir(b), Version: "1"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = n.Close() })
	_, key, err := n.Create(b.Context(), "test", admin.KeySpec{Tenant: "acme", Roles: []string{"reader"}, Name: "c", Expires: time.Now().Add(time.Hour)})
	if err != nil {
		b.Fatal(err)
	}
	return n, key
}

// A reader reads one resource over one connection.
type reader struct {
	net.Conn
	in      *bufio.Reader
	request []byte
}

// newReader serves until the end of the benchmark, connects, and has the provider started.
func newReader(b *testing.B, key string, serve func(context.Context, net.Listener) error) *reader {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, l) }()
	b.Cleanup(func() { stop(); <-ended })
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	const body = `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"hello://about","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	r := &reader{Conn: conn, in: bufio.NewReader(conn), request: fmt.Appendf(nil,
		"POST /t/acme/mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nAuthorization: Bearer %s\r\n"+
			"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/read\r\nMcp-Name: hello://about\r\nContent-Length: %d\r\n\r\n%s", l.Addr(), key, len(body), body)}
	r.read(b, 200)
	return r
}

// read reads n times, and returns the processor time of this process for one read, in microseconds.
func (r *reader) read(b *testing.B, n int) float64 {
	b.Helper()
	began := processorTime(b)
	for range n {
		if _, err := r.Write(r.request); err != nil {
			b.Fatal(err)
		}
		answer, err := http.ReadResponse(r.in, nil)
		if err != nil {
			b.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		if err != nil || !bytes.Contains(text, []byte(`"contents"`)) {
			b.Fatalf("%d %s, %v", answer.StatusCode, text, err)
		}
	}
	return float64((processorTime(b) - began).Nanoseconds()) / 1e3 / float64(n)
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
