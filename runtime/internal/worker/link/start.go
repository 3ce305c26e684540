package link

import (
	"context"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// A Ready is a worker's report when its guests have started.
type Ready struct {
	protocol.ReadyMessage
	Tape     *guest.Tape // what the services answered meanwhile; nil unless calls are recorded
	Manifest []byte      // as the guest describes itself; nil when it is packed into the module
	Asked    bool        // the guest has asked a service for something
}

// Start handles the worker's messages on its first link until its guests have started. Add must have added the link.
// The start has the time limit of a call, from when the worker has locked itself down and the guest runs. An
// [abi.Error] is the worker's own, or that of a start that took too long.
func (s *Set) Start(ctx context.Context, m Module) (*Ready, error) {
	s.setModule(m)
	s.mu.Lock()
	first := s.pop()
	s.mu.Unlock()
	r, err := first.start(ctx)
	if err != nil {
		first.close()
		return nil, err
	}
	s.release(first)
	return r, nil
}

func (l *link) start(ctx context.Context) (*Ready, error) {
	ready := &Ready{}
	c := &pendingCall{call: l.set.module.StartCall(), link: l}
	defer l.endWatch()
	for sealed := false; ; {
		kind, payload, err := l.conn.Next()
		if l.endIfLate() || l.overdue.Load() {
			return nil, c.call.DeadlineError()
		}
		if err != nil {
			return nil, err
		}
		switch kind {
		case protocol.KindSealed:
			if sealed {
				return nil, l.conn.Unexpected(kind)
			}
			sealed = true
			l.watch(time.Now().Add(l.set.module.Limits.Timeout))
		case protocol.KindReady:
			ready.Tape, _ = c.call.Tapes()
			return ready, ready.Decode(payload)
		case protocol.KindFailed:
			return nil, startError(payload)
		case protocol.KindFrame:
			ready.Manifest = append([]byte{}, payload...)
		default:
			ready.Asked = ready.Asked || kind == protocol.KindAsk
			if err := c.handle(ctx, kind, payload); err != nil {
				return nil, err
			}
		}
	}
}

// startError returns the error that a worker sent in place of a ready message.
func startError(payload []byte) error {
	var m protocol.Done
	if err := m.Decode(payload); err != nil {
		return err
	}
	if err := errorOf(&m); err != nil {
		return err
	}
	return protocol.Errorf("the worker failed without an error")
}
