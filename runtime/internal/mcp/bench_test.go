package mcp_test

import (
	"context"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/resource"
)

func BenchmarkRead(b *testing.B) {
	text := []byte(strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 1<<20/45))
	small := []byte(strings.Repeat("x", 100))
	for _, bb := range []struct {
		name string
		kind abi.Kind
		body []byte
		hint bool
	}{
		{"small", abi.KindText, small, true},
		{"text1MiB", abi.KindText, text, true},
		{"blob1MiB", abi.KindBlob, text, true},
		{"blob1MiB/unknown-size", abi.KindBlob, text, false},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s := mcptest.New()
			s.Handle(abi.Resource{URI: "test://x", Name: "x"}, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
				c := &abi.Content{URI: req.URI.String(), MIMEType: "text/plain", Kind: bb.kind}
				if bb.hint {
					c.Size = uint64(len(bb.body))
				}
				return &abi.Reply{}, mcptest.Send(sink, c, bb.body)
			})
			core := newCore(b, mcp.Config{Source: s})
			request := []byte(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{` + meta + `,"uri":"test://x"}}`)
			b.SetBytes(int64(len(bb.body)))
			b.ReportAllocs()
			for b.Loop() {
				m, _ := mcp.ParseMessage(request)
				if _, err := core.Answer(b.Context(), make([]byte, 0, 1024), m, mcp.ResponseStream{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParseMessage(b *testing.B) {
	request := []byte(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{` + meta + `,"uri":"test://x"}}`)
	b.SetBytes(int64(len(request)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := mcp.ParseMessage(request); err != nil {
			b.Fatal(err)
		}
	}
}
