package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
	runtime "github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/accesslog"
)

// BenchmarkSmallRead is a small read of a Go provider from the client's bytes to the server's, over one connection that
// stays open. The client allocates nothing, so that what is reported is the server's.
func BenchmarkSmallRead(b *testing.B) {
	for _, isolation := range []runtime.Isolation{runtime.IsolateNone, runtime.IsolateProcess} {
		b.Run(isolation.String(), func(b *testing.B) {
			benchmarkSmallRead(b, isolation, runtime.ServerOptions{})
		})
	}
}

// BenchmarkOperatedRead is BenchmarkSmallRead with what an operator may want of a server.
func BenchmarkOperatedRead(b *testing.B) {
	for _, isolation := range []runtime.Isolation{runtime.IsolateNone, runtime.IsolateProcess} {
		b.Run(isolation.String()+"/access log", func(b *testing.B) {
			file, err := accesslog.OpenFile(filepath.Join(b.TempDir(), "access.log"), accesslog.FileConfig{})
			if err != nil {
				b.Fatal(err)
			}
			log := accesslog.New(file, accesslog.Text, nil)
			benchmarkSmallRead(b, isolation, runtime.ServerOptions{AccessLog: log.Add})
			if err := log.Close(); err != nil {
				b.Error(err)
			}
		})
		b.Run(isolation.String()+"/rate", func(b *testing.B) {
			benchmarkSmallRead(b, isolation, runtime.ServerOptions{RatePerSecond: 1e9, Burst: 1e9})
		})
	}
}

func benchmarkSmallRead(b *testing.B, isolation runtime.Isolation, server runtime.ServerOptions) {
	conn := dial(b, Config{
		File: guesttest.File(b, "fixtures"), CacheDir: guesttest.CacheDir(b), Isolation: isolation,
		Logger: slog.New(slog.DiscardHandler), Server: server,
	})
	request := smallRead()
	answer := make([]byte, 4<<10)
	want := len(exchange(b, conn, request, answer))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := conn.Write(request); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(conn, answer[:want]); err != nil {
			b.Fatal(err)
		}
	}
}

// smallRead is a request whose answer is as long each time.
func smallRead() []byte {
	body := `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"text://small","_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	return fmt.Appendf(nil, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/read\r\n"+
		"Mcp-Name: text://small\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// dial serves a provider over HTTP until the end of the benchmark, and opens a connection.
func dial(b *testing.B, cfg Config) net.Conn {
	a, err := Open(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	bound, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		ended <- a.ServeHTTP(ctx, HTTPConfig{Addr: "localhost:0", Ready: func(addr net.Addr) { bound <- addr }})
	}()
	addr := <-bound
	conn, err := net.Dial(addr.Network(), addr.String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		conn.Close()
		stop()
		if err := <-ended; err != nil {
			b.Error(err)
		}
		if err := a.Close(); err != nil {
			b.Error(err)
		}
	})
	return conn
}

// exchange sends a request and gives the whole of its answer, which must be a success.
func exchange(b *testing.B, conn net.Conn, request, room []byte) []byte {
	if _, err := conn.Write(request); err != nil {
		b.Fatal(err)
	}
	for n := 0; ; {
		got, err := conn.Read(room[n:])
		if err != nil {
			b.Fatal(err)
		}
		n += got
		head, body, whole := bytes.Cut(room[:n], []byte("\r\n\r\n"))
		if !whole {
			continue
		}
		_, length, _ := bytes.Cut(head, []byte("Content-Length: "))
		length, _, _ = bytes.Cut(length, []byte("\r\n"))
		if size, err := strconv.Atoi(string(length)); err != nil || !bytes.HasPrefix(head, []byte("HTTP/1.1 200 ")) {
			b.Fatalf("got %s", room[:n])
		} else if len(body) == size {
			return room[:n]
		}
	}
}
