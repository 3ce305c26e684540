package streamable

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/mcp"
)

// How long a client may take for what is written, and how much longer for large answers.
const (
	answerPatience = 30 * time.Second
	guestPatience  = 5 * time.Second // a guest waits meanwhile
	slowest        = 64 << 10        // bytes a second
)

const (
	eventHead, eventTail = "event: message\ndata: ", "\n\n" // what stands around the message of an event
	stillHere            = ": still here\n\n"               // a comment
)

// A stream is a response of server-sent events. Its first event begins it.
type stream struct {
	turn chan struct{} // holds one token while somebody writes

	// owned by whose turn it is; the goroutine that sends, which alone sets begun, may read it at any time
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
}

func newStream(w http.ResponseWriter) *stream {
	return &stream{turn: make(chan struct{}, 1), w: w, control: http.NewResponseController(w)}
}

// send writes a message as an event.
func (s *stream) send(message []byte, patience time.Duration) error {
	return s.write(eventHead, message, eventTail, patience)
}

func (s *stream) write(before string, message []byte, after string, patience time.Duration) error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if !s.begun {
		if message == nil {
			return nil // a comment does not begin it: there may be an error yet
		}
		s.begun = true
		setEventHeaders(s.w.Header())
		s.w.WriteHeader(http.StatusOK)
	}
	setDeadline(s.control, len(message), patience)
	defer s.control.SetWriteDeadline(time.Time{}) // between writes a stream may be silent for hours
	for _, part := range [...][]byte{[]byte(before), message, []byte(after)} {
		if _, err := s.w.Write(part); err != nil {
			return err
		}
	}
	return s.control.Flush()
}

// keepAlive writes a comment whenever that much time has passed, once the stream has begun, until stop is called.
func (s *stream) keepAlive(every time.Duration) (stop func()) {
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
				if s.write(stillHere, nil, "", answerPatience) != nil {
					return // the next event meets the error too
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

// setDeadline bounds the writes of size bytes that follow.
func setDeadline(control *http.ResponseController, size int, patience time.Duration) {
	_ = control.SetWriteDeadline(time.Now().Add(patienceFor(size, patience))) // not every server can
}

// abort has a write that is under way fail.
func abort(control *http.ResponseController) { _ = control.SetWriteDeadline(time.Unix(1, 0)) }

// patienceFor says how long a client may take for size bytes.
func patienceFor(size int, patience time.Duration) time.Duration {
	return patience + time.Duration(size/slowest)*time.Second
}

func writeError(w http.ResponseWriter, m *mcp.Message, e *mcp.Error) {
	writeJSON(w, status(e), mcp.AppendError(nil, m.ID, e))
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-store")
	if len(body) > slowest { // less fits into what the system buffers
		control := http.NewResponseController(w)
		setDeadline(control, len(body), answerPatience)
		defer control.SetWriteDeadline(time.Time{})
		defer control.Flush()
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have gone
}
