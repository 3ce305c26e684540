package subscription

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
)

const (
	typicalWrite = 320      // bytes of one event
	maxWrite     = 16 << 10 // bytes of events that are gathered for one write, about
)

// serve writes the head of the response, and then every message, until the client goes or the Set is closed.
func (s *subscriber) serve(head []byte) error {
	for out := head; ; out = s.nextBuffer(out) {
		closing := s.handleWake()
		out = s.appendMessages(out)
		if closing && !s.inMessage {
			return s.write(s.appendEnd(out))
		}
		if len(out) == 0 && !time.Now().Before(s.commentDue) {
			out = s.framing.EndPart(append(s.framing.BeginPart(out), response.KeepAlive...), 0)
		}
		if len(out) > 0 {
			if err := s.write(out); err != nil {
				return err
			}
		}
		if err := s.wait(); err != nil {
			return err
		}
	}
}

// nextBuffer returns a buffer for the next write: the last one while a message goes on, otherwise a small one.
func (s *subscriber) nextBuffer(last []byte) []byte {
	if s.inMessage {
		return last[:0]
	}
	return make([]byte, 0, typicalWrite)
}

// release, deferred, closes the subscription and the connection. It recovers from a panic, which must not end the process
// with the requests of all clients.
func (s *subscriber) release(logger *slog.Logger) {
	if p := recover(); p != nil {
		logger.Error("subscription ended by a panic", "panic", p, "stack", string(debug.Stack()))
	}
	s.subscription.Close()
	_ = s.conn.Close() // everything was written
}

// handleWake ends the last wake, and reports whether the Set is closed.
func (s *subscriber) handleWake() (closing bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.woken = false
	return s.closing
}

// appendMessages appends the messages there are. If they are more than fits into one write, it appends some and wakes
// s for the rest.
func (s *subscriber) appendMessages(out []byte) []byte {
	for len(out) < maxWrite {
		begin := len(out)
		part := s.framing.BeginPart(out)
		if !s.inMessage {
			part = append(part, response.EventHead...)
		}
		part, whole, ok := s.subscription.AppendPart(part)
		if !ok {
			return part[:begin]
		}
		if s.inMessage = !whole; whole {
			part = append(part, response.EventTail...)
		}
		out = s.framing.EndPart(part, begin)
	}
	s.wake()
	return out
}

// appendEnd appends the result and the end of the body.
func (s *subscriber) appendEnd(out []byte) []byte {
	message := s.subscription.AppendEnd(append(s.framing.BeginPart(out), response.EventHead...))
	return s.framing.AppendEnd(s.framing.EndPart(append(message, response.EventTail...), len(out)))
}

// write writes out, if the client receives it in time.
func (s *subscriber) write(out []byte) error {
	s.mu.Lock()
	if !s.closing {
		_ = s.conn.SetWriteDeadline(time.Now().Add(response.Timeout(len(out), response.AnswerTimeout)))
	}
	s.mu.Unlock()
	if s.account != nil {
		s.account.Write(len(out)) // events are small: they are counted, but not delayed
	}
	_, err := s.conn.Write(out)
	// A change is written to many clients at the same time: their next comments should not be.
	s.commentDue = time.Now().Add(keepAliveInterval - rand.N(keepAliveInterval/8))
	return err
}

// wait waits until there is something to do. An error means that the client has gone.
func (s *subscriber) wait() error {
	for s.prepareRead() {
		_, err := s.conn.Read(s.discarded[:])
		switch {
		case !errors.Is(err, os.ErrDeadlineExceeded) && err != nil:
			return fmt.Errorf("the client has gone: %w", err)
		case err != nil && !time.Now().Before(s.commentDue):
			return nil
		}
	}
	return nil
}

// prepareRead sets the deadline of the next read, and reports false if there is something to do instead.
func (s *subscriber) prepareRead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = !s.woken
	if s.reading {
		_ = s.conn.SetReadDeadline(s.commentDue) // on a broken connection the read fails, too
	}
	return s.reading
}
