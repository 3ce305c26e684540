package streamable_test

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
	"github.com/wasmres/wasmres/internal/inflight"
	"github.com/wasmres/wasmres/internal/mcp"
	"github.com/wasmres/wasmres/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/internal/mcp/streamable"
)

// modernTool is a call of a tool.
func modernTool(name, arguments string, headers ...string) string {
	return modern("tools/call", name, body("1", "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments)), headers...)
}

// Clients that read nothing of what they ask for take no more memory than the budget, and each a little; then the
// answers are given up.
func TestUnreadAnswersTakeBoundedMemory(t *testing.T) {
	const clients, budget, each = 64, 24 << 20, 64 << 10
	src := mcptest.New()
	for i := range 1000 {
		uri := fmt.Sprintf("test://entry/%d", i)
		src.Handle(abi.Resource{URI: uri, Name: "entry", Description: strings.Repeat("d", 4096)}, nil)
	}
	src.Text("test://text", strings.Repeat("text", 1<<19))
	web := []string{"Origin", "http://localhost"} // has net/http answer
	for name, request := range map[string]string{
		"list":      modern("resources/list", "", body("1", "resources/list", "")),
		"list, web": modern("resources/list", "", body("1", "resources/list", ""), web...),
		"list tool": modernTool("list_resources", "{}"),
		"read":      modernRead("test://text"),
		"read, web": modernRead("test://text", web...),
		"read tool": modernTool("read_resource", `{"uri":"test://text"}`),
		"download":  "GET /mcp?uri=test%3A%2F%2Ftext HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				flight := inflight.New(budget)
				_, l, _ := serveInMemory(t, newFront(t, src, mcp.Config{InFlight: flight}, streamable.Config{}))
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

// A large body counts until its request is answered, and is refused where there is no room for it.
func TestBodiesCount(t *testing.T) {
	flight := inflight.New(0)
	core, err := mcp.New(mcp.Config{Source: library(), Name: "test", Version: "1", InFlight: flight})
	if err != nil {
		t.Fatal(err)
	}
	h, err := streamable.New(streamable.Config{Core: core, AllowedHosts: testHosts})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(size int) int {
		status, _, _ := do(h, post(body("1", "resources/list", `"x":"`+strings.Repeat("x", size)+`"`)))
		if flight.Used() > 0 && flight.Used() != int64(2*(flight.Most()-1)) {
			t.Errorf("%d bytes are counted after the answer", flight.Used())
		}
		return status
	}
	if status := ask(1 << 20); status != 200 {
		t.Errorf("with room: got %d", status)
	}
	flight.Force(flight.Most() - 1)
	if small, large := ask(1<<10), ask(1<<20); small != 200 || large != 503 {
		t.Errorf("without room: got %d for a small body and %d for a large one, want 200 and 503", small, large)
	}
}

func heapInUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
