package worker

import (
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/worker/protocol"
)

// A relay is the sink of a call: it sends contents on as they come.
type relay struct{ link *inner }

// Content implements [abi.Sink]. Bytes that came with the head follow as others do.
func (r relay) Content(c *abi.Content) error {
	head := *c
	head.Inline = nil
	r.link.buf = head.Append(r.link.buf[:0])
	return r.link.out.Put(protocol.KindFrame, r.link.buf)
}

// Waited implements [runtime.Waiter].
func (r relay) Waited() time.Duration { return r.link.out.Waited() }

// Body implements [abi.Sink].
func (r relay) Body(p []byte) error { return r.link.out.Body(p) }

// Progress implements [abi.Sink]. It does not wait for what comes next.
func (r relay) Progress(p abi.Progress) {
	r.link.buf = p.Append(r.link.buf[:0])
	if r.link.out.Put(protocol.KindFrame, r.link.buf) == nil {
		_ = r.link.out.Flush() // a connection that fails keeps failing
	}
}
