package mcp_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// TestAReadThatFailsIsNotRepeated reads by the method and by the tool, in each revision and on both transports: a read may
// have side effects.
func TestAReadThatFailsIsNotRepeated(t *testing.T) {
	later := abi.Errorf(abi.CodeUnavailable, "gone")
	later.RetryAfter = time.Millisecond
	for _, revision := range mcptest.Revisions() {
		for name, dial := range map[string]func(*testing.T, *mcptest.Source) peer{"stdio": dialStdio, "HTTP": dialHTTP} {
			t.Run(revision+" "+name, func(t *testing.T) {
				var reads atomic.Int32
				s := mcptest.New()
				for i, err := range []error{later, &abi.Error{Code: abi.CodeBusy}, &abi.Error{Code: abi.CodeTrap}, fmt.Errorf("broken")} {
					uri := fmt.Sprint("test://", i)
					s.Handle(abi.Resource{URI: uri, Name: uri}, func(context.Context, *resource.Request, abi.Sink) (*abi.Reply, error) {
						reads.Add(1)
						return nil, err
					})
				}
				p := dial(t, s)
				ask := func(method, params string) {
					message := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params)
					if !mcp.Revision(revision).Legacy() {
						message = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,%s}}`, method, meta, params)
					}
					p.ask(t, revision, method, message)
				}
				if mcp.Revision(revision).Legacy() {
					ask("initialize", `"protocolVersion":"`+revision+`","capabilities":{},"clientInfo":{"name":"c","version":"1"}`)
					p.ask(t, revision, "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				}
				for i := range 4 {
					for method, params := range map[string]string{
						"resources/read": `"uri":"test://%d"`, "tools/call": `"name":"read_resource","arguments":{"uri":"test://%d"}`,
					} {
						reads.Store(0)
						ask(method, fmt.Sprintf(params, i))
						if n := reads.Load(); n != 1 {
							t.Errorf("%s of test://%d asked the source %d times, want once", method, i, n)
						}
					}
				}
			})
		}
	}
}
