package legacy

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

// A client that takes longer than this for one write is given up: 30 s and a second for each 64 KiB.
const (
	writeTimeout = 30 * time.Second
	writeRate    = 64 << 10 // bytes a second
)

// A response gives each write its own deadline, so that a client that reads no more cannot hold its session for ever.
// Between writes there is none: a stream may be silent for hours.
type response struct {
	http.ResponseWriter
	control *http.ResponseController

	mu sync.Mutex // serialises writes

	cancelling sync.Mutex        // guards the field below; held for moments, with s.mu and mu too
	cancelled  []json.RawMessage // ids of requests that get no answer any more
}

func (w *response) Write(p []byte) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.answersCancelled(p) {
		return len(p), nil
	}
	w.within(writeTimeout+time.Duration(len(p)/writeRate)*time.Second, func() { n, err = w.ResponseWriter.Write(p) })
	return n, err
}

// FlushError is what [http.ResponseController] looks for.
func (w *response) FlushError() (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.within(writeTimeout, func() { err = w.control.Flush() })
	return err
}

func (w *response) within(limit time.Duration, write func()) {
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

// cancel keeps back the answer to the request with that id. The SDK, which is told of the cancellation as well, answers
// such a request with an error. When the response is to be nothing else, it is an event stream without events.
func (w *response) cancel(id json.RawMessage) {
	w.cancelling.Lock()
	defer w.cancelling.Unlock()
	w.cancelled = append(w.cancelled, id)
}

// answersCancelled reports whether p, one write of the SDK's, is the event of an answer that is kept back.
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

// note remembers w as the response to the requests of a POST, so that one that its client cancels meanwhile is not
// answered. It does what cancellations in a batch ask for. The caller calls answered in the end.
func (s *session) note(w *response, body []byte, m *mcp.Message, batch bool) (answered func()) {
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
		if s.responses[id] == nil { // an id that is in use is refused
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

// parseBatch gives the messages of a batch that are legible; none of a batch that the SDK refuses.
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
