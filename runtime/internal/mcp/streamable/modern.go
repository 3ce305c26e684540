package streamable

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
)

// Headers that repeat values of the body, for proxies that do not read the body.
const (
	versionHeader = "Mcp-Protocol-Version"
	methodHeader  = "Mcp-Method"
	nameHeader    = "Mcp-Name"
	sessionHeader = "Mcp-Session-Id" // of the older revisions
)

// answerModern answers a message of revision 2026-07-28. failure says why it is malformed; nil if it is not.
func (h *Handler) answerModern(w http.ResponseWriter, r *http.Request, m *mcp.Message, failure *mcp.Error) {
	switch {
	case !AcceptsBoth(r.Header.Values("Accept")):
		response.Refuse(w, http.StatusNotAcceptable, "Accept does not name both application/json and text/event-stream")
	case failure != nil:
		response.WriteError(w, m, failure)
	case m.IsNotification():
		w.WriteHeader(http.StatusAccepted)
	case !m.IsRequest():
		response.Refuse(w, http.StatusBadRequest, "a response was sent, but the server sends no requests")
	default:
		if failure = h.checkHeaders(r, m); failure != nil {
			response.WriteError(w, m, failure)
		} else if m.Method == mcp.ListenMethod {
			h.subscriptions.Serve(w, r, h.cfg.Core, m)
		} else {
			h.answer(w, r, m)
		}
	}
}

// checkHeaders checks that the headers repeat what the body says.
func (h *Handler) checkHeaders(r *http.Request, m *mcp.Message) *mcp.Error {
	asked := r.Header.Get(versionHeader)
	version, ok := m.Version()
	if ok && !headerEquals(r, versionHeader, version) {
		return mismatch(versionHeader)
	}
	if !m.Modern() && asked != "" && asked != string(mcp.Revision20260728) {
		return h.cfg.Core.UnsupportedVersion(asked)
	}
	if err := h.cfg.Core.CheckModern(m); err != nil {
		return err
	}
	if !headerEquals(r, methodHeader, m.Method) {
		return mismatch(methodHeader)
	}
	if target, ok, wanted := m.Target(); wanted && ok {
		values := r.Header.Values(nameHeader)
		if len(values) != 1 {
			return mismatch(nameHeader)
		}
		if name, ok := decodeName(values[0]); !ok || name != target {
			return mismatch(nameHeader)
		}
	}
	return nil
}

// headerEquals reports whether a header is there once and has that value.
func headerEquals(r *http.Request, name, value string) bool {
	values := r.Header.Values(name)
	return len(values) == 1 && values[0] == value
}

func mismatch(name string) *mcp.Error {
	return &mcp.Error{
		Code: mcp.CodeHeaderMismatch, Message: fmt.Sprintf("Header mismatch: %s is missing, malformed, or not that of the body", name),
	}
}

// decodeName decodes a header that may be base64 between "=?base64?" and "?=". Otherwise it is visible ASCII.
func decodeName(value string) (name string, ok bool) {
	const prefix, suffix = "=?base64?", "?="
	if len(value) >= len(prefix)+len(suffix) && strings.HasPrefix(value, prefix) && strings.HasSuffix(value, suffix) {
		decoded, err := base64.StdEncoding.Strict().DecodeString(value[len(prefix) : len(value)-len(suffix)])
		return string(decoded), err == nil && utf8.Valid(decoded)
	}
	for _, c := range []byte(value) {
		if (c < ' ' || c > '~') && c != '\t' {
			return "", false
		}
	}
	return value, true
}

// AcceptsBoth reports whether a client accepts a JSON body and an event stream. accept has the values of the header
// Accept.
func AcceptsBoth(accept []string) bool {
	var body, stream bool
	for _, value := range accept {
		for part := range strings.SplitSeq(value, ",") {
			kind, params, _ := strings.Cut(strings.ToLower(part), ";")
			if strings.Contains(strings.ReplaceAll(params, " ", "")+";", "q=0;") {
				continue
			}
			switch strings.TrimSpace(kind) {
			case "*/*":
				body, stream = true, true
			case "application/json", "application/*":
				body = true
			case "text/event-stream", "text/*":
				stream = true
			}
		}
	}
	return body && stream
}
