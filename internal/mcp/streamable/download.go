package streamable

import (
	"errors"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/mcp"
	"github.com/wasmres/wasmres/internal/mcp/streamable/response"
)

// revalidate lets clients keep a download, and has them ask each time whether it is current.
const revalidate = "private, no-cache"

// isDownload reports whether a request is for the bytes of a resource: the endpoint, with a URI for its query. It has
// no path of its own so that the relative reference "?uri=…" holds behind any proxy, and whatever guards the endpoint
// guards it too.
func isDownload(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.URL.RawQuery, "uri=")
}

// download answers a GET or HEAD of a resource, of which it keeps no more than the piece at hand.
func (h *Handler) download(w http.ResponseWriter, r *http.Request) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	switch {
	case isForeign(r):
		response.Refuse(w, http.StatusForbidden, "downloads are not for pages of other origins")
		return
	case err != nil || len(query["uri"]) != 1:
		response.Refuse(w, http.StatusBadRequest, "the query is not one percent-encoded uri")
		return
	}
	defer h.cfg.Core.AfterResponse()
	t := newTransfer(h.cfg.Core, w, r)
	defer t.release()
	failure := h.transfer(t, query.Get("uri"))
	switch {
	case t.begun && (failure != nil || !t.finish()):
		panic(http.ErrAbortHandler) // so that nobody takes it for whole
	case failure != nil:
		writeFailure(w, failure)
	}
}

// transfer runs a download: in one read or, from a provider that can cut, in several.
func (h *Handler) transfer(t *transfer, uri string) *mcp.Error {
	d := &mcp.Download{URI: uri, IfNoneMatch: opaque(sole(t.r))}
	for {
		d.Offset, d.Length = t.offset, t.length
		failure := h.cfg.Core.Download(t.r.Context(), d, t)
		elsewhere := failure != nil && errors.Is(failure, errElsewhere)
		if !elsewhere && (failure != nil || !t.advance()) {
			return failure
		}
		d.IfNoneMatch = "" // that was answered
	}
}

// isForeign reports whether a browser sends a request on behalf of another site without saying of which: the door has
// looked at the others.
func isForeign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		return r.Header.Get("Origin") == ""
	}
	return false
}

// describe sets the headers of a content. It comes from a guest: whatever its type, no browser shows it as a page of
// ours.
func describe(header http.Header, c *abi.Content) {
	header.Set("Content-Type", contentType(c))
	name := map[string]string{"filename": filename(c.URI)}
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", name))
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", revalidate)
}

// contentType gives the type of a content, or what is safe to say of it.
func contentType(c *abi.Content) string {
	kind, params, err := mime.ParseMediaType(c.MIMEType)
	switch {
	case err == nil && strings.Contains(kind, "/") && kind != "multipart/byteranges":
	case c.Kind == abi.KindText:
		kind, params = "text/plain", nil
	default:
		return "application/octet-stream"
	}
	if c.Kind == abi.KindText && strings.HasPrefix(kind, "text/") {
		params = map[string]string{"charset": "utf-8"} // whatever it says: text is
	}
	if text := mime.FormatMediaType(kind, params); text != "" {
		return text
	}
	return "application/octet-stream"
}

// filename makes a name to save a resource by from the last part of its URI.
func filename(uri string) string {
	const most = 100 // characters
	_, rest, _ := strings.Cut(uri, ":")
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	name := path.Base(strings.Trim(rest, "/"))
	if decoded, err := url.PathUnescape(name); err == nil {
		name = decoded
	}
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	if name = strings.TrimLeft(name, ". "); name == "" {
		return "resource"
	}
	if runes := []rune(name); len(runes) > most {
		name = string(runes[len(runes)-most:])
	}
	return name
}

// writeFailure answers with an error, in the JSON of a message without an id.
func writeFailure(w http.ResponseWriter, e *mcp.Error) {
	var public *abi.Error
	if errors.As(e, &public) && public.RetryAfter > 0 {
		seconds := (public.RetryAfter + time.Second - 1) / time.Second
		w.Header().Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	response.WriteJSON(w, downloadStatus(e), mcp.AppendError(nil, nil, e))
}

// unsuited answers a range that lies beyond the resource. What was said of the content is not of this answer.
func unsuited(w http.ResponseWriter) {
	for _, name := range []string{"Content-Disposition", "ETag", "Last-Modified"} {
		w.Header().Del(name)
	}
	response.Refuse(w, http.StatusRequestedRangeNotSatisfiable, "the range lies beyond the resource, or is malformed")
}

// downloadStatus gives the status of a failed download. Codes of our own are those of HTTP, but for the time limit: 408
// would have some clients ask again at once.
func downloadStatus(e *mcp.Error) int {
	switch {
	case abi.CodeOf(e) == abi.CodeNotFound:
		return http.StatusNotFound
	case e.Code == mcp.CodeInvalidParams:
		return http.StatusBadRequest
	case e.Code == http.StatusRequestTimeout:
		return http.StatusGatewayTimeout
	case 400 <= e.Code && e.Code < 600:
		return e.Code
	}
	return http.StatusInternalServerError
}
