package legacy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/mcp"
)

const sessionHeader = "Mcp-Session-Id"

// A client that takes longer than this for one write is given up: 30 s and a second for each 64 KiB.
const (
	writeTimeout = 30 * time.Second
	writeRate    = 64 << 10 // bytes a second
)

// heartbeat is how often something is written to a GET stream.
const heartbeat = 15 * time.Second

// ServeHTTP serves the streamable HTTP transport of these revisions: POST, the GET stream, and DELETE.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get(sessionHeader)
	s := f.sessionByID(id)
	if s != nil {
		s.enter()
		defer s.leave()
	}
	out := &response{ResponseWriter: w, control: http.NewResponseController(w)}
	switch {
	case r.Method == http.MethodPost:
		defer f.cfg.Core.Settle()
		f.servePOST(out, r, id)
	case r.Method == http.MethodGet && s != nil:
		f.stream(out, r, s)
	case r.Method == http.MethodDelete && s != nil:
		s.cut(errEnded) // the SDK waits for what runs
		f.http.ServeHTTP(out, r)
	default:
		f.http.ServeHTTP(out, r)
	}
}

// stream serves the GET stream of a session.
func (f *Front) stream(w *response, r *http.Request, s *session) {
	w.Header().Set("X-Accel-Buffering", "no") // or nginx would keep it all to itself
	// The SDK writes first thing when it attaches the stream, and holds the stream's lock until it has: what is still
	// to be told follows at once.
	w.attached = s.nudge
	over := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() { w.beat(over) })
	f.http.ServeHTTP(w, r)
	close(over)
	beating.Wait()
}

// Begin notes m, a usual request, as one of an HTTP session, for somebody else to answer by the core. cancel is called when
// the session ends or the client cancels m; finish is to be called when m is answered. ok is false when there is no such
// session, or it is not ready, or is not of that version, the header, which may be empty: then ServeHTTP is to answer.
func (f *Front) Begin(id, version string, m *mcp.Message, cancel context.CancelCauseFunc) (finish func(), ok bool) {
	s := f.sessionByID(id)
	if s == nil {
		return nil, false
	}
	revision := s.agreed.Load()
	if revision == nil || version != "" && version != string(*revision) {
		return nil, false
	}
	call := string(m.ID)
	if !s.admit(call, cancel) {
		return nil, false
	}
	m.Session, m.Revision = s.name(), *revision
	return func() { s.settle(call) }, true
}

func (f *Front) sessionByID(id string) *session {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.byID[id]
}

// servePOST looks at the body before the SDK does, to refuse what the SDK refuses badly.
func (f *Front) servePOST(w *response, r *http.Request, session string) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, f.cfg.MaxBody))
	if err != nil {
		status := http.StatusBadRequest
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		writeError(w, status, nil, invalid("the body is cut off or too large"))
		return
	}
	m, failure := mcp.ParseMessage(body)
	batch := isBatch(body)
	switch {
	case session == "" && (batch || failure == nil && (m.Method != "initialize" || !m.IsRequest())):
		writeError(w, http.StatusBadRequest, m.ID, invalid(sessionHeader+" is missing"))
	case session != "" && f.sessionByID(session) == nil: // whatever is asked, the SDK says that the session is over
		f.forward(w, handOn(r, body, nil), session)
	case batch: // allowed in some revisions: the SDK knows
		f.forward(w, handOn(r, body, nil), session)
	case failure != nil:
		writeError(w, http.StatusBadRequest, m.ID, failure)
	case m.Cancels() != nil && f.sessionByID(session).cancel(string(m.Cancels())):
		w.WriteHeader(http.StatusAccepted)
	case m.IsNotification() && !heeds(m.Method):
		w.WriteHeader(http.StatusAccepted)
	default:
		if m.IsRequest() {
			failure = f.refuse(m)
		}
		if failure != nil {
			writeError(w, http.StatusOK, m.ID, failure)
			return
		}
		f.forward(w, handOn(r, body, m.Params), session)
	}
}

// heeds says whether the SDK knows a notification. It refuses others with plain text, though nobody asked.
func heeds(method string) bool {
	switch method {
	case "notifications/initialized", "notifications/cancelled", "notifications/progress",
		"notifications/roots/list_changed":
		return true
	}
	return !strings.HasPrefix(method, "notifications/")
}

// handOn is r once more, with the body unread and the parameters as they came.
func handOn(r *http.Request, body []byte, params json.RawMessage) *http.Request {
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	if len(params) > 0 {
		r.Header[paramsKey] = []string{string(params)}
	}
	return r
}

// forward lets the SDK serve a POST, which may open a session if there is room.
func (f *Front) forward(w *response, r *http.Request, session string) {
	if session != "" {
		f.http.ServeHTTP(w, r)
		return
	}
	if !f.reserve() {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "too many sessions", http.StatusServiceUnavailable)
		return
	}
	defer f.release()
	f.http.ServeHTTP(w, r)
	if s := f.sessionByID(w.Header().Get(sessionHeader)); s != nil {
		s.enter() // the request that opened the session counts as its first
		s.leave()
	}
}

// reserve makes room for one session while it is being opened. It errs on the side of refusing: for a moment a session
// counts twice.
func (f *Front) reserve() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || len(f.sessions)+f.opening >= f.cfg.MaxSessions {
		return false
	}
	f.opening++
	f.running.Add(1)
	return true
}

func (f *Front) release() {
	f.mu.Lock()
	f.opening--
	f.mu.Unlock()
	f.running.Done()
}

func writeError(w http.ResponseWriter, status int, id json.RawMessage, e *mcp.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(mcp.AppendError(nil, id, e)) // the client may have gone
}

// isBatch says whether a message is a JSON array.
func isBatch(message []byte) bool {
	message = bytes.TrimLeft(message, " \t\r\n")
	return len(message) > 0 && message[0] == '['
}

// A response gives each write its own deadline, so that a client that reads no more cannot hold its session for ever.
// Between writes there is none: a stream may be silent for hours.
type response struct {
	http.ResponseWriter
	control *http.ResponseController

	mu       sync.Mutex // guards the fields below, and serialises writes
	written  bool
	attached func() // called at the first write; nil for nothing
}

func (w *response) Write(p []byte) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.attached != nil && !w.written {
		w.attached()
	}
	w.written = true
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

// beat writes a comment now and then, so that no proxy takes the stream for dead, until the stream is over.
func (w *response) beat(over <-chan struct{}) {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
			if w.begun() {
				_, _ = w.Write([]byte(": alive\n\n")) // that the client has gone shows elsewhere
				_ = w.FlushError()
			}
		}
	}
}

func (w *response) begun() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.written
}
