package link

import (
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// drainTime is how long a worker may take to confirm that calls which moved to other links are cancelled.
const drainTime = time.Second

// drain discards the replies to calls that moved to other links.
func (l *link) drain(calls []uint64) {
	l.watch(time.Now().Add(min(drainTime, l.set.module.Limits.Timeout)))
	for _, number := range calls {
		l.conn.Begin(number)
		if err := l.discardReply(); err != nil {
			_ = l.fail(&pendingCall{}, err)
			return
		}
	}
	l.endWatch()
	l.set.drained(l)
}

// discardReply discards the messages of one call.
func (l *link) discardReply() error {
	for {
		kind, payload, err := l.conn.Next()
		if err == nil {
			err = l.discard(kind, payload)
		}
		if err != nil || kind == protocol.KindDone {
			return err
		}
	}
}

// discard discards one message.
func (l *link) discard(kind protocol.Kind, payload []byte) error {
	switch kind {
	case protocol.KindFrame, protocol.KindBody, protocol.KindChanged, protocol.KindLog, protocol.KindDone:
		return nil
	case protocol.KindChunk:
		l.windowUsed = true
		return l.in.Chunk(payload, nil)
	case protocol.KindAsk:
		return l.conn.SendAnswer(&protocol.Answer{Code: abi.CodeUnavailable}, nil)
	}
	return l.conn.Unexpected(kind)
}
