package streamable_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
)

// A discard is a response that is not read.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }

func BenchmarkRead(b *testing.B) {
	h := streamtest.NewHandler(b, streamtest.Source(), streamable.Config{})
	text := streamtest.Body("1", "resources/read", `"uri":"test://text"`)
	r := streamtest.Post(text)
	b.ReportAllocs()
	for b.Loop() {
		r.Body = io.NopCloser(strings.NewReader(text))
		w := &discard{header: make(http.Header)}
		if h.ServeHTTP(w, r); w.status != 200 {
			b.Fatal(w.status)
		}
	}
}
