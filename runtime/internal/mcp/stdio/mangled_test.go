package stdio_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/internal/mcp/stdio"
	"github.com/wasmres/wasmres/runtime/resource"
)

// exchange returns the lines that a server answers to input.
func exchange(t *testing.T, source resource.Source, input []byte) []string {
	t.Helper()
	core, err := mcp.New(mcp.Config{Source: source, Name: "test", Version: "1", Tools: true})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cfg := stdio.Config{Core: core, Legacy: &fakeLegacy{}, In: bytes.NewReader(input), Out: &out, MaxLine: 1 << 16}
	if err := stdio.Serve(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if last := lines[len(lines)-1]; last != "" {
		t.Errorf("the last line %q has no end", last)
	}
	return lines[:len(lines)-1]
}

// A server answers a valid line after ten thousand lines with random changes.
func TestMangledLines(t *testing.T) {
	seeds := []string{
		read("1", "test://text"), request("2", "resources/list", ""), cancelled("1"),
		request(`"L"`, "subscriptions/listen", `"notifications":{"resourcesListChanged":true}`),
		`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`,
		`{"jsonrpc":"2.0","id":4,"method":"resources/list"}`, strings.Repeat("x", 1<<16+1),
	}
	r := rand.New(rand.NewPCG(5, 6))
	var input bytes.Buffer
	for range 10_000 {
		line := []byte(seeds[r.IntN(len(seeds))])
		for range r.IntN(4) {
			line[r.IntN(len(line))] = byte(r.Uint32())
		}
		input.Write(line)
		input.WriteByte('\n')
	}
	input.WriteString(read(`"last"`, "test://text"))
	found := false
	for _, line := range exchange(t, source(), input.Bytes()) {
		if !json.Valid([]byte(line)) {
			t.Fatalf("not JSON: %q", line)
		}
		found = found || strings.HasPrefix(line, `{"jsonrpc":"2.0","id":"last","result"`)
	}
	if !found {
		t.Error("the last line was not answered")
	}
}

func FuzzServe(f *testing.F) {
	f.Add([]byte(read("1", "test://text") + "\n{\n\n" + cancelled("1")))
	f.Add([]byte(request("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["test://text"]}`) + "\n[]"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2026-07-28"}}` + "\n[1]\n" + strings.Repeat("x", 1<<17)))
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, line := range exchange(t, mcptest.New(), input) {
			if !json.Valid([]byte(line)) {
				t.Fatalf("not JSON: %q", line)
			}
		}
	})
}
