package fastpath_test

import (
	"context"
	"io"
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

// No more than SlowReaders clients keep a source waiting. Each other client does so for a moment only.
func TestFewClientsKeepASourceWaiting(t *testing.T) {
	for name, request := range map[string]string{
		"read":      modernRead("test://long"),
		"read, web": modernRead("test://long", "Origin", "http://localhost"),
		"read tool": modernTool("read_resource", `{"uri":"test://long"}`),
		"download":  "GET /mcp?uri=test%3A%2F%2Flong HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src, ended := streamtest.Library(), make(chan error, 5)
				src.Handle(abi.Resource{URI: "test://long", Name: "long"}, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
					err := mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindBlob}, make([]byte, 8<<20))
					ended <- err
					return &abi.Reply{}, err
				})
				_, l, _ := serveInMemory(t, streamtest.NewFront(t, src, mcp.Config{SlowReaders: 2}, streamable.Config{}))
				for range 5 {
					c := l.dial()
					defer c.Close()
					go io.WriteString(c, request)
				}
				time.Sleep(time.Second)
				if synctest.Wait(); len(ended) != 3 {
					t.Fatalf("%d of 5 sources have ended after a second, want 3", len(ended))
				}
				for range 3 {
					if err := <-ended; abi.CodeOf(err) != abi.CodeBusy {
						t.Errorf("got %v, want busy", err)
					}
				}
				time.Sleep(5 * time.Minute)
				if synctest.Wait(); len(ended) != 2 {
					t.Errorf("%d of the other 2 have ended after the write deadline", len(ended))
				}
			})
		})
	}
}
