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
	"github.com/wasmres/wasmres/internal/mcp/streamable/streamtest"
)

// modernTool is a call of a tool.
func modernTool(name, arguments string, headers ...string) string {
	return modern("tools/call", name, streamtest.Body("1", "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments)), headers...)
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

// A client that reads nothing of a long acknowledgment has the server hold little of it.
// What it asked for counts no longer than until the stream has begun.
func TestUnreadAcknowledgmentsTakeLittle(t *testing.T) {
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

// A large body counts until its request is answered, and is refused where there is no room for it.
func TestBodiesCount(t *testing.T) {
	flight := inflight.New(0)
	core, err := mcp.New(mcp.Config{Source: streamtest.Library(), Name: "test", Version: "1", InFlight: flight})
	if err != nil {
		t.Fatal(err)
	}
	h, err := streamable.New(streamable.Config{Core: core, AllowedHosts: streamtest.Hosts()})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(size int) int {
		status, _, _ := streamtest.Do(h, streamtest.Post(streamtest.Body("1", "resources/list", `"x":"`+strings.Repeat("x", size)+`"`)))
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
	text := streamtest.Body("1", "resources/list", `"x":"`+strings.Repeat("x", 1<<20)+`"`)
	r, unread := streamtest.Post(text), &countingBody{Reader: strings.NewReader(text)}
	r.Body = unread
	if status, _, _ := streamtest.Do(h, r); status != 503 || unread.came > 0 {
		t.Errorf("got %d after %d bytes of a body that says that there is no room for it, want 503 after none", status, unread.came)
	}
}

// A counting body sees the buffer that it is read into.
type countingBody struct {
	io.Reader
	came, buffer int // bytes
	excess       int // of buffer, beyond three times what has come
}

func (b *countingBody) Read(p []byte) (int, error) {
	b.buffer = b.came + len(p)
	b.excess = max(b.excess, b.buffer-3*b.came)
	n, err := b.Reader.Read(p)
	b.came += n
	return n, err
}

func (b *countingBody) Close() error { return nil }

// The buffer of a body is no larger than what is counted for it, whatever a client says of its length, and no larger
// than the body in the end.
func TestBodiesHaveTheBufferTheyNeed(t *testing.T) {
	h := streamtest.NewHandler(t, streamtest.Library(), streamable.Config{})
	for _, size := range []int{1, 4095, 4096, 4097, 12_287, 12_288, 100_000, 1 << 20, 2<<20 + 1, 4 << 20} {
		text := streamtest.Body("1", "resources/list", "")
		text += strings.Repeat(" ", max(size-len(text), 0))
		for _, said := range []int{len(text), -1} {
			r, b := streamtest.Post(text), &countingBody{Reader: strings.NewReader(text)}
			r.Body, r.ContentLength = b, int64(said)
			if status, _, answer := streamtest.Do(h, r); status != 200 {
				t.Fatalf("%d bytes: got %d %s", size, status, answer)
			}
			const usual = 4 << 10
			if b.excess > usual || said > usual && b.buffer > said+1 {
				t.Errorf("%d bytes, said to be %d: the buffer has %d in the end, %d too many at most", len(text), said, b.buffer, b.excess)
			}
		}
	}
}

func heapInUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
