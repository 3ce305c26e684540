package legacy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

const sessionHeader = "Mcp-Session-Id"

// ServeHTTP serves the streamable HTTP transport of these revisions: POST, the GET stream, and DELETE.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get(sessionHeader)
	s := f.sessionByID(id)
	if s != nil {
		if !s.enter() {
			http.Error(w, "session not found", http.StatusNotFound)
			return
		}
		defer s.leave()
	}
	out := &response{ResponseWriter: w, control: http.NewResponseController(w)}
	switch {
	case r.Method == http.MethodPost:
		defer f.cfg.Core.AfterResponse()
		f.servePOST(out, r, id)
	case r.Method == http.MethodGet && s != nil:
		f.serveStream(out, r, s)
	case r.Method == http.MethodDelete && s != nil:
		s.cut(errEnded) // the SDK waits for what runs
		f.http.ServeHTTP(out, r)
	default:
		f.http.ServeHTTP(out, r)
	}
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
	if s := f.sessionByID(session); s != nil {
		defer s.note(w, body, m, batch)()
	}
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
	lease := f.lease()
	defer lease.end()
	r.Header[leaseKey] = []string{lease.name}
	if session != "" {
		f.http.ServeHTTP(w, r)
		return
	}
	client := mcp.ClientOf(r.RemoteAddr)
	if !f.reserve(client) {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "too many sessions", http.StatusServiceUnavailable)
		return
	}
	defer func() { f.release(client, w.Header().Get(sessionHeader)) }()
	f.http.ServeHTTP(w, r)
	if s := f.sessionByID(w.Header().Get(sessionHeader)); s != nil && s.enter() {
		s.leave() // the request that opened the session counts as its first
	}
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
