package streamable

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"time"

	"github.com/wasmres/wasmres/internal/mcp/streamable/response"
)

const (
	usualWrite = 320      // bytes of an event
	fullWrite  = 16 << 10 // bytes of events that are gathered for one write, about
)

// serve writes the head of the response, and then all there is to say, until the client goes or the server ends.
func (s *subscriber) serve(head []byte) error {
	for out := head; ; out = s.empty(out) {
		closing := s.attend()
		out = s.appendNews(out)
		if closing && !s.within {
			return s.write(s.appendEnd(out))
		}
		if len(out) == 0 && !time.Now().Before(s.silentUntil) {
			out = s.framing.EndPart(append(s.framing.BeginPart(out), response.KeepAlive...), 0)
		}
		if len(out) > 0 {
			if err := s.write(out); err != nil {
				return err
			}
		}
		if err := s.await(); err != nil {
			return err
		}
	}
}

// empty gives a buffer for the next write: while there is more of a message, the one of the last.
func (s *subscriber) empty(last []byte) []byte {
	if s.within {
		return last[:0]
	}
	return make([]byte, 0, usualWrite)
}

// release, deferred, gives back what s has. It recovers from a panic: a mistake of ours must not end the process, with
// everybody's requests.
func (s *subscriber) release(log *slog.Logger) {
	if p := recover(); p != nil {
		log.Error("subscription ended by a panic", "panic", p, "stack", string(debug.Stack()))
	}
	s.subscription.Close()
	_ = s.conn.Close() // all that was to be written was
}

// attend answers the last wake, and reports whether the server ends.
func (s *subscriber) attend() (closing bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.woken = false
	return s.closing
}

// appendNews appends what there is to say. If that is much, it says some and wakes itself for the rest.
func (s *subscriber) appendNews(out []byte) []byte {
	for len(out) < fullWrite {
		begin := len(out)
		part := s.framing.BeginPart(out)
		if !s.within {
			part = append(part, response.EventHead...)
		}
		part, whole, ok := s.subscription.AppendPart(part)
		if !ok {
			return part[:begin]
		}
		if s.within = !whole; whole {
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

// write writes out, if the client takes it in time.
func (s *subscriber) write(out []byte) error {
	s.mu.Lock()
	if !s.closing {
		_ = s.conn.SetWriteDeadline(time.Now().Add(response.Timeout(len(out), response.AnswerTimeout))) // likewise
	}
	s.mu.Unlock()
	_, err := s.conn.Write(out)
	// Not all at the same time, when all have been told of something at the same time.
	s.silentUntil = time.Now().Add(keepAlive - rand.N(keepAlive/8))
	return err
}

// await waits until there is something to do. An error means that the client is gone.
func (s *subscriber) await() error {
	for s.rest() {
		_, err := s.conn.Read(s.stray[:])
		switch {
		case !errors.Is(err, os.ErrDeadlineExceeded) && err != nil:
			return fmt.Errorf("the client is gone: %w", err)
		case err != nil && !time.Now().Before(s.silentUntil):
			return nil
		}
	}
	return nil
}

// rest gets ready to wait, unless there is something to do.
func (s *subscriber) rest() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = !s.woken
	if s.reading {
		_ = s.conn.SetReadDeadline(s.silentUntil) // a failure shows when reading
	}
	return s.reading
}
