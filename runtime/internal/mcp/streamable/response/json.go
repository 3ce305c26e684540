package response

import (
	"net/http"
	"strconv"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

const jsonType = "application/json"

// Status returns the HTTP status of an answer; nil is a result. An error of the application, such as a resource that
// does not exist, is a JSON-RPC error with status 200: a client takes a status of 400 for a refusal by the transport,
// and may fall back to an older revision.
func Status(e *mcp.Error) int {
	if e == nil {
		return http.StatusOK
	}
	switch e.Code {
	case mcp.CodeMethodNotFound:
		return http.StatusNotFound
	case mcp.CodeParseError, mcp.CodeInvalidRequest, mcp.CodeHeaderMismatch, mcp.CodeUnsupportedVersion:
		return http.StatusBadRequest
	case mcp.CodeInvalidParams:
		if e.Malformed {
			return http.StatusBadRequest
		}
	}
	return http.StatusOK
}

// Refuse answers a request that is no message, or none to be answered, with an error without an id.
func Refuse(w http.ResponseWriter, status int, why string) {
	e := &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "Invalid request: " + why}
	WriteJSON(w, status, mcp.AppendError(nil, nil, e))
}

// WriteError answers m with an error.
func WriteError(w http.ResponseWriter, m *mcp.Message, e *mcp.Error) {
	WriteJSON(w, Status(e), mcp.AppendError(nil, m.ID, e))
}

// SetRetryAfter tells a client in whole seconds when to repeat a request; a time that is not positive does nothing.
func SetRetryAfter(header http.Header, after time.Duration) {
	if after > 0 {
		header.Set("Retry-After", strconv.FormatInt(int64((after+time.Second-1)/time.Second), 10))
	}
}

// WriteJSON writes a whole answer.
func WriteJSON(w http.ResponseWriter, status int, body []byte) {
	header := w.Header()
	header.Set("Content-Type", jsonType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-store")
	if len(body) > MinRate { // less fits into the buffers of the operating system
		control := http.NewResponseController(w)
		SetDeadline(control, len(body), AnswerTimeout)
		defer ClearDeadline(control)
		defer control.Flush()
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the client has gone
}
