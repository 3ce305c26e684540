package node_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
)

// The log of the server stays short and readable, whatever a provider does, logs or crashes by, again and again. The tenant's own
// log has the lines.
func TestProvidersDoNotFillTheLog(t *testing.T) {
	if testing.Short() {
		t.Skip("it crashes hundreds of times")
	}
	file, err := filepath.Abs("../../testdata/wasm/faults.wasm")
	if err != nil {
		t.Fatal(err)
	}
	c := serveCrashing(t, fmt.Sprintf("  faults: {module: %q}\n", file), "plan: unbounded\n")
	for _, kind := range "knabmq" { // many lines, of 100 KiB for each read, output, traps, wrong pointers, exits, recursion
		for range 40 {
			c.read(t, "x:"+string(kind))
		}
	}
	log := c.log.String()
	if len(log) > 1<<20 || !strings.Contains(log, "records of the tenant left out") {
		t.Errorf("the log has %d bytes: %.2000s", len(log), log)
	}
	var own strings.Builder
	if err := c.client.Logs(t.Context(), "acme", "faults", false, &own); err != nil || own.Len() < 64<<10 {
		t.Errorf("the tenant's own log has %d bytes, %v", own.Len(), err)
	}
}

// module makes a provider that says nothing, with so many pages of memory and a start function.
func module(pages byte, start []byte) []byte {
	section := func(id byte, content ...byte) []byte {
		if len(content) > 127 {
			return append([]byte{id, byte(len(content)&127 | 128), byte(len(content) >> 7)}, content...)
		}
		return append([]byte{id, byte(len(content))}, content...)
	}
	m := []byte("\x00asm\x01\x00\x00\x00")
	m = append(m, section(1, 2, 0x60, 2, 0x7f, 0x7f, 1, 0x7f, 0x60, 0, 0)...)
	m = append(m, section(3, 2, 0, 1)...)
	m = append(m, section(5, 1, 0, pages)...)
	exports := append([]byte{2, 6}, "memory\x02\x00"...)
	m = append(m, section(7, append(append(exports, 10), "wasmres_v1\x00\x00"...)...)...)
	m = append(m, section(8, 1)...)
	body := append(append([]byte{0}, start...), 0x0b)
	code := append([]byte{2, 4, 0, 0x41, 0, 0x0b, byte(len(body))}, body...)
	m = append(m, section(10, code...)...)
	manifest := (&abi.Manifest{
		Name: "evil", Version: "1", Ops: 1 << abi.OpRead, Resources: []abi.Resource{{URI: "evil://x", Name: "x"}},
	}).Append(nil)
	return append(m, section(0, append(append([]byte{16}, "wasmres.manifest"...), manifest...)...)...)
}

// A start function without an end uses up the processor time of its own tenant alone, for which the tenant pays, and not for what its
// clients wait. Another tenant is served meanwhile.
func TestAStartWithoutAnEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for deadlines")
	}
	c := serveCrashing(t, fmt.Sprintf("  hello: {module: %q}\n", guesttest.File(t, "hello")), "plan: unbounded\n")
	c.read(t, "hello://about")
	file := filepath.Join(c.data, "evil.wasm")
	write(t, file, string(module(1, []byte{0x03, 0x40, 0x0c, 0, 0x0b}))) // loop br 0
	write(t, filepath.Join(c.data, "tenants", "evil.yaml"), fmt.Sprintf("providers:\n  evil: {module: %q}\nroles:\n  all: [{uris: [\"**\"]}]\nauth: {anonymous: [all]}\nplan: unbounded\n", file))
	if r, err := c.node.Reread(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Fatal(err, r)
	}
	h := &hosted{tb: t, address: c.address}
	var clients sync.WaitGroup
	var waited atomic.Int64
	for range 8 {
		clients.Go(func() {
			for range 3 {
				began := time.Now()
				if got := h.do(request{tenant: "evil", uri: "evil://x"}); got.status < 500 {
					t.Errorf("got %d %s", got.status, got.body)
				}
				waited.Add(int64(time.Since(began)))
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		clients.Wait()
		close(ended)
	}()
	for reads, done := 0, false; !done; reads++ {
		if got := h.do(request{tenant: "acme", uri: "hello://about"}); got.status != http.StatusOK {
			t.Errorf("the other tenant got %d %s", got.status, got.body)
		}
		select {
		case <-ended:
			done = true
			if reads < 3 {
				t.Errorf("the other tenant got %d answers meanwhile", reads)
			}
		case <-time.After(10 * time.Millisecond):
		}
	}
	h.do(request{tenant: "evil", uri: "evil://x"}) // pays for the last start
	paid := time.Duration(0)
	for _, q := range c.node.Quotas("evil") {
		if q.Limit == "processor time today" {
			paid = time.Duration(q.Used * float64(time.Second))
		}
	}
	if all := time.Duration(waited.Load()); paid < 10*time.Millisecond || paid > all/2 {
		t.Errorf("the tenant has paid for %v, and its clients have waited for %v in all", paid, all)
	}
}
