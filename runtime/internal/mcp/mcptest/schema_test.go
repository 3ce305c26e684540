package mcptest_test

import (
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
)

func TestCheckMessage(t *testing.T) {
	const newest, older, oldest = "2026-07-28", "2025-11-25", "2024-11-05"
	for _, test := range []struct {
		revision, method, message string
		ok                        bool
	}{
		{older, "resources/list", `{"jsonrpc":"2.0","id":1,"result":{"resources":[{"uri":"x:a","name":"a"}]}}`, true},
		{older, "resources/list", `{"jsonrpc":"2.0","id":1,"result":{"resources":[{"uri":"a","name":"a"}]}}`, false},
		{older, "resources/list", `{"jsonrpc":"2.0","id":1,"result":{"resources":[{"uri":"x:a"}]}}`, false},
		{older, "resources/list", `{"jsonrpc":"2.0","id":null,"result":{"resources":[]}}`, false},
		{newest, "resources/list", `{"jsonrpc":"2.0","id":1,"result":{"resources":[]}}`, false},
		{newest, "resources/list", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","resources":[]}}`, true},
		{older, "resources/read", `{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"x:a","text":""}]}}`, true},
		{older, "resources/read", `{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"x:a"}]}}`, false},
		{older, "resources/read", `{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"x:a","blob":"?"}]}}`, false},
		{older, "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"resource_link","uri":"x:a","name":"a"}]}}`, true},
		{oldest, "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"resource_link","uri":"x:a","name":"a"}]}}`, false},
		{oldest, "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{}}}`, false},
		{oldest, "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"image","mimeType":"image/png","data":"AA=="}]}}`, true},
		{oldest, "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"image","mimeType":"image/png","data":"AA==","_meta":{}}]}}`, false},
		{oldest, "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"audio","mimeType":"audio/ogg","data":"AA=="}]}}`, false},
		{older, "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"audio","mimeType":"audio/ogg","data":"AA==","_meta":{}}]}}`, true},
		{older, "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"image","mimeType":"audio/ogg","data":"AA=="}]}}`, false},
		{older, "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"image","mimeType":"image/png"}]}}`, false},
		{newest, "", `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:a"}}`, false},
		{older, "", `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:a"}}`, true},
		{older, "ping", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`, true},
		{older, "ping", `{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"no"}}`, false},
		{newest, "ping", `{"jsonrpc":"2.0","id":1,"result":{}}`, false},
		{newest, "", `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no"}}`, false},
	} {
		if err := mcptest.CheckMessage(test.revision, test.method, []byte(test.message)); (err == nil) != test.ok {
			t.Errorf("%s of %s: %s: got %v", test.method, test.revision, test.message, err)
		}
	}
}

// Each schema resolves, for each message that it defines.
func TestRevisions(t *testing.T) {
	for _, revision := range mcptest.Revisions() {
		if err := mcptest.CheckMessage(revision, "", []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`)); err != nil {
			t.Error(err)
		}
	}
}
