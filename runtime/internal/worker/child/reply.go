package child

import (
	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// sendReply sends the answer of a call, without contents, in frames of about maxReplyFrame.
func (l *connection) sendReply(r *abi.Reply) error {
	l.buf = l.buf[:0]
	for i := range r.Resources {
		if err := l.addPart(&abi.Reply{Resources: r.Resources[i : i+1]}); err != nil {
			return err
		}
	}
	for i := range r.Completions {
		if err := l.addPart(&abi.Reply{Completions: r.Completions[i : i+1]}); err != nil {
			return err
		}
	}
	rest := *r
	rest.Resources, rest.Completions = nil, nil
	if err := l.addPart(&rest); err != nil {
		return err
	}
	return l.sendFrame(len(l.buf))
}

// maxReplyFrame is the size of a frame of a reply, in bytes. A larger frame has a single part.
const maxReplyFrame = 32 << 10

// addPart adds a part of a reply to the frame in buf. If it does not fit, addPart sends the frame first.
func (l *connection) addPart(part *abi.Reply) error {
	before := len(l.buf)
	l.buf = part.Append(l.buf)
	if len(l.buf) <= maxReplyFrame {
		return nil
	}
	return l.sendFrame(before)
}

// sendFrame sends the first n bytes of buf as a frame.
func (l *connection) sendFrame(n int) error {
	if n == 0 {
		return nil
	}
	if n > abi.MaxFrame {
		return abi.Errorf(abi.CodeTooLarge, "an entry of the result has more than %d bytes", abi.MaxFrame)
	}
	err := l.out.Put(protocol.KindFrame, l.buf[:n])
	l.buf = append(l.buf[:0], l.buf[n:]...)
	return err
}
