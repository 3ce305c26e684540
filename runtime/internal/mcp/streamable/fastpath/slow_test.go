package fastpath_test

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A guest waits only for a while for a client that stops reading, wherever in the answer that is.
func TestAClientThatStopsReadingReleasesTheGuest(t *testing.T) {
	for _, headers := range [][]string{nil, {"Origin", "http://localhost"}} { // without net/http, and with it
		for _, unread := range []int{0, 1, 1 << 20} { // bytes of the first chunk
			synctest.Test(t, func(t *testing.T) {
				src, ended := streamtest.Library(), make(chan struct{})
				src.Handle(abi.Resource{URI: "test://long", Name: "long"}, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
					defer close(ended)
					return &abi.Reply{}, mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindBlob}, make([]byte, 32<<20))
				})
				_, l, _ := serveInMemory(t, streamtest.NewFront(t, src, mcp.Config{}, streamable.Config{}))
				c := l.dial()
				defer c.Close()
				go io.WriteString(c, modernRead("test://long", headers...))
				r := bufio.NewReaderSize(c, 16)
				for line := ""; line != "\r\n"; line, _ = r.ReadString('\n') {
				}
				line, _ := r.ReadString('\n')
				size, err := strconv.ParseInt(strings.TrimSpace(line), 16, 64)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.CopyN(io.Discard, r, size-int64(unread)); err != nil {
					t.Fatal(err)
				}
				select {
				case <-ended:
				case <-time.After(5 * time.Minute):
					t.Errorf("headers %q: the guest still waits for a client that left %d of %d bytes unread", headers, unread, size)
				}
			})
		}
	}
}

// The header timeout applies to bytes that follow a request in the same piece.
func TestTheHeaderTimeoutAppliesToTheRestOfAPiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, l, netHTTP := serveInMemory(t, streamtest.NewFront(t, streamtest.Library(), mcp.Config{}, streamable.Config{}))
		c := l.dial()
		defer c.Close()
		go io.WriteString(c, modernRead("test://text")+"POST /mc")
		began := time.Now()
		answer, _ := io.ReadAll(c)
		if took := time.Since(began); took > 15*time.Second || !strings.Contains(string(answer), "hello") || netHTTP.Load() > 0 {
			t.Errorf("got %q after %v, want one answer and the end after 10 s", answer, took)
		}
	})
}

// An empty host is refused as the first of a connection, too.
func TestAnEmptyHostIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newMemoryServers(t)
		request := strings.Replace(modernRead("test://text"), "Host: localhost\r\n", "Host:\r\n", 1)
		begin := strings.Index(request, "Accept:")
		end := begin + strings.Index(request[begin:], "\r\n") + 2
		request = request[:begin] + request[end:]
		if got, want := p.exchange(p.fast, []string{request}), p.exchange(p.standard, []string{request}); got != want || !strings.Contains(want, "403") {
			t.Errorf("got %.300q, want %.300q", got, want)
		}
	})
}
