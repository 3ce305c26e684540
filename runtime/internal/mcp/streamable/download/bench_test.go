package download_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// BenchmarkDownload is a download over loopback, beside a file served by net/http.
func BenchmarkDownload(b *testing.B) {
	const size = 16 << 20
	body := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	send := func(ranges bool) mcptest.Handler {
		return func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
			head, body := abi.Content{URI: req.URI.String(), Kind: abi.KindBlob, Size: size, ETag: "v1"}, body
			if ranges {
				body = body[req.RangeOffset:min(req.RangeOffset+req.RangeLength, size)]
				head.RangeTotal = size
			}
			if err := sink.Content(&head); err != nil {
				return nil, err
			}
			for len(body) > 0 {
				n := min(len(body), 256<<10)
				if err := sink.Body(body[:n]); err != nil {
					return nil, err
				}
				body = body[n:]
			}
			return &abi.Reply{}, nil
		}
	}
	s := mcptest.New()
	s.Handle(abi.Resource{URI: "test://whole", Name: "whole"}, send(false))
	s.Handle(abi.Resource{URI: "test://cut", Name: "cut"}, send(true))
	h := streamtest.NewHandler(b, s, streamable.Config{})
	file := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "x.bin", time.Time{}, bytes.NewReader(body))
	})
	for _, bb := range []struct {
		name string
		h    http.Handler
		path string
	}{{"whole", h, link("test://whole")}, {"slices", h, link("test://cut")}, {"file", file, "/"}} {
		b.Run(bb.name, func(b *testing.B) {
			server := httptest.NewServer(bb.h)
			defer server.Close()
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				response, err := http.Get(server.URL + bb.path)
				if err != nil {
					b.Fatal(err)
				}
				if n, err := io.Copy(io.Discard, response.Body); err != nil || n != size {
					b.Fatal(n, err)
				}
				response.Body.Close()
			}
		})
	}
}
