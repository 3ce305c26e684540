package mcp_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// TestInvalidMIMETypesAreLeftOut lists and reads what has types that are none, and looks into the log for the author.
func TestInvalidMIMETypesAreLeftOut(t *testing.T) {
	var log strings.Builder
	source := mcptest.New()
	core := newCore(t, mcp.Config{Source: source, Tools: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for i, mimeType := range []string{"text", "image/*", "text/plain", "text"} {
		r := abi.Resource{
			URI: fmt.Sprint("test://", i), Name: "n", MIMEType: mimeType, Priority: math.NaN(),
			Icons: []abi.Icon{{Source: "https://x.test/i.png", MIMEType: ".png"}},
		}
		source.Handle(r, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
			return &abi.Reply{}, mcptest.Send(sink, &abi.Content{URI: req.URI.String(), MIMEType: mimeType, Kind: abi.KindText}, nil)
		})
	}
	for _, tt := range []struct {
		method, params string
		types          int // that the answer has
	}{
		{"resources/list", "", 1},
		{"resources/read", `,"uri":"test://0"`, 0},
		{"resources/read", `,"uri":"test://2"`, 1},
		{"tools/call", `,"name":"read_resource","arguments":{"uri":"test://1"}`, 0},
	} {
		answer := ask(t, core, false, `{"jsonrpc":"2.0","id":1,"method":"`+tt.method+`","params":{`+meta+tt.params+`}}`)
		if n := strings.Count(answer[0], `"mimeType":"text/plain"`); n != tt.types || strings.Count(answer[0], "mimeType") != n {
			t.Errorf("%s%s: got %s, want %d valid types and no other", tt.method, tt.params, answer, tt.types)
		}
	}
	for _, mimeType := range []string{"text", "image/*", ".png"} {
		if n := strings.Count(log.String(), "mime_type="+mimeType+" "); n != 1 {
			t.Errorf("%s is logged %d times, want once, in:\n%s", mimeType, n, log.String())
		}
	}
	for i := range 1000 {
		source.Handle(abi.Resource{URI: fmt.Sprint("test://", i), Name: "n", MIMEType: fmt.Sprint(i), Priority: math.NaN()}, nil)
	}
	ask(t, core, false, `{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{`+meta+`}}`)
	if n := strings.Count(log.String(), "\n"); n > 100 {
		t.Errorf("%d lines are logged for one provider", n)
	}
}
