package fastpath_test

import (
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
)

// modernTool is a call of a tool.
func modernTool(name, arguments string, headers ...string) string {
	return modern("tools/call", name, streamtest.Body("1", "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments)), headers...)
}

// Answers that clients do not read take no more memory than the budget and a little for each client, and are discarded
// after the write deadline.
func TestUnreadAnswersTakeBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes much memory")
	}
	const clients, budget, each = 64, 24 << 20, 64 << 10
	src := mcptest.New()
	for i := range 1000 {
		uri := fmt.Sprintf("test://entry/%d", i)
		src.Handle(abi.Resource{URI: uri, Name: "entry", Description: strings.Repeat("d", 4096)}, nil)
	}
	src.Text("test://text", strings.Repeat("text", 1<<19))
	web := []string{"Origin", "http://localhost"} // for net/http
	for name, request := range map[string]string{
		"list":      modern("resources/list", "", streamtest.Body("1", "resources/list", "")),
		"list, web": modern("resources/list", "", streamtest.Body("1", "resources/list", ""), web...),
		"list tool": modernTool("list_resources", "{}"),
		"read":      modernRead("test://text"),
		"read, web": modernRead("test://text", web...),
		"read tool": modernTool("read_resource", `{"uri":"test://text"}`),
		"download":  "GET /mcp?uri=test%3A%2F%2Ftext HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				flight := inflight.New(budget)
				_, l, _ := serveInMemory(t, streamtest.NewFront(t, src, mcp.Config{InFlight: flight}, streamable.Config{}))
				before := heapInUse()
				conns := make([]net.Conn, clients)
				for i := range conns {
					conns[i] = l.dial()
					go io.WriteString(conns[i], request)
				}
				synctest.Wait()
				if grown := heapInUse() - before; grown > budget+clients*each {
					t.Errorf("%d MiB for %d answers that no client reads", grown>>20, clients)
				}
				if flight.Used() > budget+clients*each {
					t.Errorf("%d MiB of the budget", flight.Used()>>20)
				}
				time.Sleep(10 * time.Minute) // which all write deadlines are within
				if flight.Used() != 0 {
					t.Errorf("%d bytes are still counted", flight.Used())
				}
				for _, c := range conns {
					c.Close()
				}
			})
		})
	}
}

// A long acknowledgment that the client does not read takes little memory, and the request counts only until the stream
// has begun.
func TestUnreadAcknowledgmentsTakeLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes much memory")
	}
	const clients, each = 16, 512 << 10
	src := mcptest.New()
	request := modern(mcp.ListenMethod, "", streamtest.Body("7", mcp.ListenMethod, `"notifications":`+streamtest.WatchMuch(src)))
	for _, proto := range []string{"HTTP/1.1", "HTTP/1.0"} {
		t.Run(proto, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				flight := inflight.New(0)
				_, l, _ := serveInMemory(t, streamtest.NewFront(t, src, mcp.Config{URIs: mcp.NewURIs(0), InFlight: flight}, streamable.Config{}))
				conns := make([]net.Conn, clients+1)
				before := 0
				for i := range conns {
					conns[i] = l.dial()
					if _, err := io.WriteString(conns[i], strings.Replace(request, "HTTP/1.1", proto, 1)); err != nil {
						t.Fatal(err)
					}
					if synctest.Wait(); i == 0 {
						before = heapInUse() // with the URIs
					}
				}
				if n := src.Watchers(); n != len(conns) {
					t.Fatalf("%d clients of %d have subscribed", n, len(conns))
				}
				if grown := (heapInUse() - before) / clients; grown > each {
					t.Errorf("%d KiB for an acknowledgment that the client does not read", grown>>10)
				}
				if flight.Used() != 0 {
					t.Errorf("%d bytes are counted while the streams are open", flight.Used())
				}
				for _, c := range conns {
					c.Close()
				}
			})
		})
	}
}

func heapInUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
