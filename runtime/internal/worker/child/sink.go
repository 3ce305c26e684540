package child

import (
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// A linkSink is the sink of a call. It sends contents to the parent as the guest pushes them.
type linkSink struct{ link *connection }

// Content implements [abi.Sink]. Inline bytes follow as others do.
func (s linkSink) Content(c *abi.Content) error {
	head := *c
	head.Inline = nil
	s.link.buf = head.Append(s.link.buf[:0])
	return s.link.out.Put(protocol.KindFrame, s.link.buf)
}

// Blocked implements [guest.BlockingSink].
func (s linkSink) Blocked() time.Duration { return s.link.out.Blocked() }

// Body implements [abi.Sink].
func (s linkSink) Body(p []byte) error { return s.link.out.Body(p) }

// Progress implements [abi.Sink]. It is sent at once.
func (s linkSink) Progress(p abi.Progress) {
	s.link.buf = p.Append(s.link.buf[:0])
	if s.link.out.Put(protocol.KindFrame, s.link.buf) == nil {
		_ = s.link.out.Flush() // a connection that failed keeps failing
	}
}
