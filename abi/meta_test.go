package abi_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

func TestIsReservedMeta(t *testing.T) {
	for key, want := range map[string]bool{
		"io.modelcontextprotocol/serverInfo": true, "dev.mcp/": true, "org.modelcontextprotocol.api/x": true,
		"com.mcp.tools/x": true, "com.MCP/x": true, "io.github.wasmres/etag": true, "dev.wasmres/provider": true,
		"Dev.Wasmres/provider": true, "dev.wa\u017fmre\u017f/provider": true, "io.github.WASMRES/etag": true, "io.modelContextProtocol/x": true,
		"com.example.mcp/x": false, "mcp/x": false, "io.modelcontextprotocol": false, "": false, "a b": false,
		"io.github.other/etag": false, "progress": false,
	} {
		if got := abi.IsReservedMeta([]byte(key)); got != want {
			t.Errorf("IsReservedMeta(%q) = %v", key, got)
		}
	}
}

func TestWithoutReservedMeta(t *testing.T) {
	for _, test := range []struct{ object, want string }{
		{"", ""},
		{"{}", "{}"},
		{`{"a": 1}`, `{"a": 1}`},
		{`{"a/b": "c/d"}`, `{"a/b": "c/d"}`},
		{`{"dev.mcp/x": {"a": [1]}}`, ""},
		{`{"dev.mcp\u002fx": 1, "k": {"dev.mcp/y": 2}}`, `{"k":{"dev.mcp/y":2}}`},
		{`{"k": 1, "io.modelcontextprotocol/x": 1, "io.modelcontextprotocol/x": 2}`, `{"k":1}`},
	} {
		if got := abi.WithoutReservedMeta(test.object); got != test.want {
			t.Errorf("WithoutReservedMeta(%s) = %s, want %s", test.object, got, test.want)
		}
	}
}

func FuzzWithoutReservedMeta(f *testing.F) {
	f.Add(`{"dev.mcp\u002fx": 1, "k": {"dev.mcp/y": 2}}`)
	f.Add(`{"io.modelcontextprotocol/x": 1, "a": [{}], "a": 2}`)
	f.Fuzz(func(t *testing.T, object string) {
		if abi.CheckJSONObject("object", object) != nil {
			return
		}
		rest := abi.WithoutReservedMeta(object)
		if rest == "" {
			return
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(rest), &members); err != nil {
			t.Fatalf("%s: %v", rest, err)
		}
		for key := range members {
			if abi.IsReservedMeta([]byte(key)) {
				t.Errorf("%q is left of %s", key, object)
			}
		}
		if reserved := abi.ReservedMeta(rest); !slices.Equal(reserved, nil) {
			t.Errorf("%q are left of %s", reserved, object)
		}
	})
}
