package legacy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/wasmres/wasmres/runtime/admission"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

const sessionHeader = "Mcp-Session-Id"

// ServeHTTP serves the streamable HTTP transport of these revisions: POST, the GET stream, and DELETE.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get(sessionHeader)
	s := f.sessionByID(id)
	if s != nil {
		if !s.isOf(r.Context()) || !s.enter() {
			http.Error(w, "session not found", http.StatusNotFound)
			return
		}
		defer s.leave()
	}
	out := &response{ResponseWriter: w, control: http.NewResponseController(w), ctx: r.Context()}
	out.pace.Begin(auth.AccountOf(r.Context()))
	switch {
	case r.Method == http.MethodPost:
		defer f.cfg.Core.AfterResponse()
		f.servePOST(out, r, id)
	case r.Method == http.MethodGet && s != nil:
		f.serveStream(out, r, s)
	case r.Method == http.MethodDelete && s != nil:
		s.cancelAll(errEnded) // the SDK waits for its requests
		f.http.ServeHTTP(out, r)
	default:
		f.http.ServeHTTP(out, r)
	}
}

// Begin counts m, a core request, as a request of an HTTP session; the caller passes m to the core. ctx has the client,
// whose session it must be, and is cancelled when the session ends or the client cancels m. The caller calls finish when
// m was answered. version is the header with the revision; empty for none. If there is no such session, or it is not
// ready or of another revision, ok is false, and ServeHTTP answers.
func (f *Front) Begin(ctx *deadline.Cancelable, id, version string, m *mcp.Message) (finish func(), ok bool) {
	s := f.sessionByID(id)
	if s == nil || !s.isOf(ctx) {
		return nil, false
	}
	revision := s.agreed.Load()
	if revision == nil || version != "" && version != string(*revision) {
		return nil, false
	}
	call := string(m.ID)
	if !s.begin(call, ctx) {
		return nil, false
	}
	m.Session, m.Revision = s.name(), *revision
	return func() { s.end(call) }, true
}

func (f *Front) sessionByID(id string) *session {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.byID[id]
}

// servePOST refuses some messages before the SDK gets them, since clients would misunderstand the SDK's answer.
func (f *Front) servePOST(w *response, r *http.Request, session string) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, f.cfg.MaxBody))
	if err != nil {
		status := http.StatusBadRequest
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		writeError(w, status, nil, invalid("the body is incomplete or too large"))
		return
	}
	m, failure := mcp.ParseMessage(body)
	batch := isBatch(body)
	if s := f.sessionByID(session); s != nil {
		defer s.track(w, body, m, batch)()
	}
	switch {
	case session == "" && (batch || failure == nil && (m.Method != "initialize" || !m.IsRequest())):
		writeError(w, http.StatusBadRequest, m.ID, invalid(sessionHeader+" is missing"))
	case session != "" && f.sessionByID(session) == nil: // the SDK answers that the session has ended
		f.forward(w, withBody(r, body, nil), session, m.ID)
	case batch: // the SDK knows whether the revision allows it
		f.forward(w, withBody(r, body, nil), session, m.ID)
	case failure != nil:
		writeError(w, http.StatusBadRequest, m.ID, failure)
	case m.Cancels() != nil && f.sessionByID(session).cancel(string(m.Cancels())):
		w.WriteHeader(http.StatusAccepted)
	case m.IsNotification() && !knowsNotification(m.Method):
		w.WriteHeader(http.StatusAccepted)
	default:
		if m.IsRequest() {
			failure = f.validate(m)
		}
		if failure != nil {
			writeError(w, http.StatusOK, m.ID, failure)
			return
		}
		f.forward(w, withBody(r, body, m.Params), session, m.ID)
	}
}

// knowsNotification reports whether the SDK knows a notification. It answers others with an error, which clients do not
// expect.
func knowsNotification(method string) bool {
	switch method {
	case "notifications/initialized", "notifications/cancelled", "notifications/progress",
		"notifications/roots/list_changed":
		return true
	}
	return !strings.HasPrefix(method, "notifications/")
}

// withBody returns r with a body that was read, and with the parameters as they came.
func withBody(r *http.Request, body []byte, params json.RawMessage) *http.Request {
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	if len(params) > 0 {
		r.Header[paramsKey] = []string{string(params)}
	}
	return r
}

// forward passes a POST to the SDK: a request with that id, if it is one. Without a session it opens one, if the quota and
// the client's account allow that.
func (f *Front) forward(w *response, r *http.Request, session string, id json.RawMessage) {
	lease := f.lease(auth.CallerOf(r.Context()))
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
	closeAccount, failure := mcp.OpenAccount(r.Context(), admission.Session)
	if failure != nil {
		f.release(client, "", func() {})
		writeError(w, http.StatusOK, id, failure)
		return
	}
	defer func() { f.release(client, w.Header().Get(sessionHeader), closeAccount) }()
	f.http.ServeHTTP(w, r)
	if s := f.sessionByID(w.Header().Get(sessionHeader)); s != nil && s.enter() {
		s.leave() // from now on the session may be idle
	}
}

func writeError(w http.ResponseWriter, status int, id json.RawMessage, e *mcp.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(mcp.AppendError(nil, id, e)) // an error means that the client has closed the connection
}

// isBatch reports whether a message is a JSON array.
func isBatch(message []byte) bool {
	message = bytes.TrimLeft(message, " \t\r\n")
	return len(message) > 0 && message[0] == '['
}
