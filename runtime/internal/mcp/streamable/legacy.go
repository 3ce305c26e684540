package streamable

import (
	"bytes"
	"io"
	"net/http"

	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

// A Legacy serves the older revisions, which have sessions.
type Legacy interface {
	http.Handler
	// Begin finds the session of m, and counts m as one of its requests; the caller passes m to the core. Begin sets
	// the fields of m about the session. ctx has the client, whose session it must be, and is cancelled when the session
	// ends, or its client cancels m. version is the header with the revision; empty for none. The caller calls finish
	// when m was answered. If the request is not valid in that session, ok is false, and ServeHTTP answers it with an
	// error.
	Begin(ctx *deadline.Cancelable, session, version string, m *mcp.Message) (finish func(), ok bool)
}

// isLegacy reports whether a message is of an older revision. The headers decide for a malformed one.
func (h *Handler) isLegacy(r *http.Request, m *mcp.Message) bool {
	version := r.Header.Get(versionHeader)
	switch {
	case h.cfg.Legacy == nil || m.Modern():
		return false
	case m.Method == "initialize" || mcp.Revision(version).Legacy():
		return true
	}
	return version == "" && m.Method != "server/discover"
}

// answerInSession has the core answer a request of a session. It reports false when the Legacy must answer it.
func (h *Handler) answerInSession(w http.ResponseWriter, r *http.Request, m *mcp.Message) bool {
	session, version := r.Header.Values(sessionHeader), r.Header.Values(versionHeader)
	if len(session) != 1 || len(version) > 1 {
		return false
	}
	ctx := deadline.NewCancelable(r.Context())
	defer ctx.Cancel(nil)
	finish, ok := h.cfg.Legacy.Begin(ctx, session[0], r.Header.Get(versionHeader), m)
	if !ok {
		return false
	}
	defer finish()
	h.answer(w, r.WithContext(ctx), m)
	return true
}

// passToLegacy has the Legacy answer a request whose body was read.
func (h *Handler) passToLegacy(w http.ResponseWriter, r *http.Request, m *mcp.Message, body []byte) {
	if m.Method == "initialize" {
		body = mcp.LegacyInitialize(body)
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	h.cfg.Legacy.ServeHTTP(w, r)
}
