package fastpath_test

import (
	"errors"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/accesslog"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/fastpath"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
	"github.com/wasmres/wasmres/runtime/internal/ratelimit"
)

// BenchmarkPlainRead answers a typical request on a connection in memory.
func BenchmarkPlainRead(b *testing.B) {
	benchmarkPlain(b, streamtest.NewHandler(b, streamtest.Source(), streamable.Config{}))
}

// BenchmarkPlainReadOfRate limits the rate of the client, too.
func BenchmarkPlainReadOfRate(b *testing.B) {
	limiter, err := ratelimit.New(1e9, 1e9)
	if err != nil {
		b.Fatal(err)
	}
	benchmarkPlain(b, streamtest.NewHandler(b, streamtest.Source(), streamable.Config{Admission: limiter}))
}

// BenchmarkPlainReadLogged has a line in an access log for each request.
func BenchmarkPlainReadLogged(b *testing.B) {
	file, err := accesslog.OpenFile(filepath.Join(b.TempDir(), "access.log"), accesslog.FileConfig{Keep: 1})
	if err != nil {
		b.Fatal(err)
	}
	l := accesslog.New(file, accesslog.Text, nil)
	defer l.Close()
	h := streamtest.NewFront(b, streamtest.Source(), mcp.Config{AccessLog: l.Add}, streamable.Config{AccessLog: l.Add})
	benchmarkPlain(b, h)
}

func benchmarkPlain(b *testing.B, h *streamable.Handler) {
	b.Helper()
	server, err := fastpath.NewServer(h, fastpath.Config{})
	if err != nil {
		b.Fatal(err)
	}
	message := streamtest.Body("1", "resources/read", `"uri":"test://text"`)
	c := &endless{request: []byte(plainRequest("resources/read", "test://text", message)), left: b.N, over: make(chan struct{})}
	b.ReportAllocs()
	b.ResetTimer()
	go server.Serve(&once{conn: c})
	<-c.over
	b.StopTimer()
	if c.written < b.N*100 {
		b.Fatalf("got %d bytes for %d requests", c.written, b.N)
	}
}

// An endless connection gives the same request again and again.
type endless struct {
	request []byte
	left    int
	written int
	over    chan struct{}
}

func (c *endless) Read(p []byte) (int, error) {
	if c.left == 0 {
		close(c.over)
		c.left = -1
	}
	if c.left < 0 {
		return 0, io.EOF
	}
	c.left--
	return copy(p, c.request), nil
}

func (c *endless) Write(p []byte) (int, error) {
	c.written += len(p)
	return len(p), nil
}

func (c *endless) Close() error                     { return nil }
func (c *endless) LocalAddr() net.Addr              { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }
func (c *endless) RemoteAddr() net.Addr             { return c.LocalAddr() }
func (c *endless) SetDeadline(time.Time) error      { return nil }
func (c *endless) SetReadDeadline(time.Time) error  { return nil }
func (c *endless) SetWriteDeadline(time.Time) error { return nil }

// A once listener has one connection.
type once struct{ conn net.Conn }

func (l *once) Accept() (net.Conn, error) {
	if l.conn == nil {
		return nil, errors.New("no more")
	}
	c := l.conn
	l.conn = nil
	return c, nil
}

func (l *once) Close() error   { return nil }
func (l *once) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// plainRequest makes a typical request of the newest revision.
func plainRequest(method, name, message string) string {
	return "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:80\r\nUser-Agent: test\r\nContent-Type: application/json\r\n" +
		"Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2026-07-28\r\n" +
		"Mcp-Method: " + method + "\r\nMcp-Name: " + name + "\r\nContent-Length: " + strconv.Itoa(len(message)) + "\r\n\r\n" + message
}
