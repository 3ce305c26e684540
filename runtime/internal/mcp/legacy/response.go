package legacy

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/pace"
)

// How long a client may take to receive one write. Large writes get a second more for each 64 KiB.
const (
	writeTimeout = 30 * time.Second
	writeRate    = 64 << 10 // bytes a second
)

// A response bounds each write by a deadline, so that a client that does not read cannot keep its session for ever. Between
// writes there is no deadline: a stream may be silent for hours.
type response struct {
	http.ResponseWriter
	control *http.ResponseController
	ctx     context.Context // of the request

	mu   sync.Mutex // held during a write
	pace pace.Pace

	cancelling sync.Mutex        // guards the field below; acquired last
	cancelled  []json.RawMessage // ids of requests that must get no answer
}

func (w *response) Write(p []byte) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.answersCancelled(p) {
		return len(p), nil
	}
	if err := w.pace.Wait(w.ctx, len(p)); err != nil {
		return 0, err
	}
	w.withDeadline(writeTimeout+time.Duration(len(p)/writeRate)*time.Second, func() { n, err = w.ResponseWriter.Write(p) })
	return n, err
}

// FlushError implements what [http.ResponseController] calls.
func (w *response) FlushError() (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.withDeadline(writeTimeout, func() { err = w.control.Flush() })
	return err
}

func (w *response) withDeadline(limit time.Duration, write func()) {
	_ = w.control.SetWriteDeadline(time.Now().Add(limit)) // not every server can
	write()
	_ = w.control.SetWriteDeadline(time.Time{})
}

// send writes p at once.
func (w *response) send(p []byte) error {
	if _, err := w.Write(p); err != nil {
		return err
	}
	return w.FlushError()
}

// cancel discards the answer to the request with that id: the SDK answers a cancelled request with an error, which the
// client must not get. A response with no other answer is an event stream without events.
func (w *response) cancel(id json.RawMessage) {
	w.cancelling.Lock()
	defer w.cancelling.Unlock()
	w.cancelled = append(w.cancelled, id)
}

// answersCancelled reports whether p, one write of the SDK, is the event with the answer to a cancelled request.
func (w *response) answersCancelled(p []byte) bool {
	w.cancelling.Lock()
	defer w.cancelling.Unlock()
	if len(w.cancelled) == 0 {
		return false
	}
	_, data, ok := bytes.Cut(p, []byte("data: "))
	if !ok {
		return false
	}
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal(data, &m) != nil || m.Method != "" {
		return false
	}
	return slices.ContainsFunc(w.cancelled, func(id json.RawMessage) bool { return sameID(id, m.ID) })
}

// sameID compares two ids, which may be written in different ways.
func sameID(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && x != nil && x == y
}

// track registers w as the response to the requests of a POST, so that those that the client cancels get no answer. It
// handles cancellations within a batch. The caller calls answered when the POST was served.
func (s *session) track(w *response, body []byte, m *mcp.Message, batch bool) (answered func()) {
	messages := []*mcp.Message{m}
	if batch {
		messages = parseBatch(body)
	}
	var ids []string
	for _, m := range messages {
		if m.IsRequest() {
			ids = append(ids, string(m.ID))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if s.responses[id] == nil { // a request with an id in use is refused
			s.responses[id] = w
		}
	}
	for _, m := range messages {
		if id := m.Cancels(); id != nil && s.responses[string(id)] != nil {
			s.responses[string(id)].cancel(id)
		}
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, id := range ids {
			if s.responses[id] == w {
				delete(s.responses, id)
			}
		}
	}
}

// parseBatch returns the well-formed messages of a batch; none if the SDK refuses the batch.
func parseBatch(body []byte) (messages []*mcp.Message) {
	var parts []json.RawMessage
	if json.Unmarshal(body, &parts) != nil || len(parts) > maxBatch {
		return nil
	}
	for _, part := range parts {
		if m, failure := mcp.ParseMessage(part); failure == nil {
			messages = append(messages, m)
		}
	}
	return messages
}
