package stdio_test

import (
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/stdio"
)

func BenchmarkRead(b *testing.B) {
	core, err := mcp.New(mcp.Config{Source: source(), Name: "test", Version: "1"})
	if err != nil {
		b.Fatal(err)
	}
	const round = 1000 // as many as may be pending
	var input strings.Builder
	for id := range round {
		input.WriteString(read(strconv.Itoa(id), "test://text") + "\n")
	}
	b.ReportAllocs()
	for n := 0; n < b.N; n += round {
		in := strings.NewReader(input.String())
		if err := stdio.Serve(b.Context(), stdio.Config{Core: core, In: in, Out: io.Discard}); err != nil {
			b.Fatal(err)
		}
	}
}
