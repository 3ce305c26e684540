package streamable_test

import (
	"io"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/inflight"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
)

// A large body counts as in flight until its request is answered, and is refused when there is no room for it.
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
		t.Errorf("got %d after %d bytes of a body with a length for which there is no room, want 503 after none", status, unread.came)
	}
}

// A countingBody notes the size of the buffer that it is read into.
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

// The buffer of a body is never larger than what is counted for it, whatever length the client names, and ends up no
// larger than the body.
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
				t.Errorf("%d bytes, Content-Length %d: the buffer has %d in the end, %d too many at most", len(text), said, b.buffer, b.excess)
			}
		}
	}
}
