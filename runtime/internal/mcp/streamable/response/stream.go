package response

import (
	"net/http"
	"sync"
	"time"
)

// Text around the message of an event, and a comment that keeps a silent stream alive.
const (
	EventHead, EventTail = "event: message\ndata: ", "\n\n"
	KeepAlive            = ": still here\n\n"
)

// A Stream is a response of server-sent events. Its first event begins it.
type Stream struct {
	turn chan struct{} // holds a token while a goroutine writes

	// owned by the goroutine that has the token; the one that calls Send, which alone sets begun, may always read begun
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
}

// NewStream makes a Stream of a response to which nothing has been written.
func NewStream(w http.ResponseWriter) *Stream {
	s := makeStream(w)
	return &s
}

func makeStream(w http.ResponseWriter) Stream {
	return Stream{turn: make(chan struct{}, 1), w: w, control: http.NewResponseController(w)}
}

// Begun reports whether an event was sent: the response can then be nothing else. It is for the goroutine that sends.
func (s *Stream) Begun() bool { return s.begun }

// Send writes a message as an event, within Timeout(len(message), timeout). One goroutine at a time calls it.
func (s *Stream) Send(message []byte, timeout time.Duration) error {
	return s.write(EventHead, message, EventTail, timeout)
}

func (s *Stream) write(before string, message []byte, after string, timeout time.Duration) error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if !s.begun {
		if message == nil {
			return nil // a comment does not begin the stream: the answer may still be an error with a status
		}
		s.begun = true
		setEventHeaders(s.w.Header())
		s.w.WriteHeader(http.StatusOK)
	}
	SetDeadline(s.control, len(message), timeout)
	defer ClearDeadline(s.control) // between writes a stream may be silent for hours
	for _, part := range [...][]byte{[]byte(before), message, []byte(after)} {
		if _, err := s.w.Write(part); err != nil {
			return err
		}
	}
	return s.control.Flush()
}

// KeepAlive writes a comment at each interval, once the stream has begun. stop ends that, and waits for the end.
func (s *Stream) KeepAlive(every time.Duration) (stop func()) {
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				if s.write(KeepAlive, nil, "", AnswerTimeout) != nil {
					return // the next Send gets the error, too
				}
			}
		}
	})
	return func() {
		close(done)
		running.Wait()
	}
}

func setEventHeaders(header http.Header) {
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no")
}
