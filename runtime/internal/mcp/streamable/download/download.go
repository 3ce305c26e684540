package download

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
	"github.com/wasmres/wasmres/runtime/trace"
)

// IsRequest reports whether a request to the endpoint is for the bytes of a resource: the query has a URI. Downloads
// share the path of the endpoint, so that the relative reference "?uri=…" is valid behind any proxy, and a guard of the
// endpoint guards downloads, too.
func IsRequest(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.URL.RawQuery, "uri=")
}

// Serve answers a GET or HEAD for the resource in the query. The caller has checked the headers Host and Origin. Serve
// panics with [http.ErrAbortHandler] if it cannot complete a response that has begun.
func Serve(w http.ResponseWriter, r *http.Request, core *mcp.Core) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	switch {
	case isCrossSite(r):
		response.Refuse(w, http.StatusForbidden, "pages of other sites cannot download resources")
		return
	case err != nil || len(query["uri"]) != 1:
		response.Refuse(w, http.StatusBadRequest, "the query is not one percent-encoded uri")
		return
	}
	defer core.AfterResponse()
	began := time.Now()
	var span *trace.Span
	if core.Traces() {
		var ctx context.Context
		ctx, span = core.TraceDownload(r.Context(), began, trace.FromHeader(r.Header))
		r = r.WithContext(ctx)
	}
	t := newTransfer(core, w, r)
	defer t.release()
	failure := t.run(query.Get("uri"))
	whole := failure == nil && (!t.begun || t.finish())
	span.End(mcp.AccessCode(failure))
	core.RecordDownload(r.Context(), began, query.Get("uri"), t.written, failure)
	switch {
	case t.begun && !whole:
		panic(http.ErrAbortHandler) // so that the client notices
	case failure != nil:
		writeFailure(w, failure)
	}
}

// run reads the resource: at once or, from a provider that answers ranges, in parts.
func (t *transfer) run(uri string) *mcp.Error {
	d := &mcp.Download{URI: uri, IfNoneMatch: opaqueTag(onlyTag(t.r))}
	for {
		d.Offset, d.Length = t.offset, t.length
		failure := t.core.Download(t.r.Context(), d, t)
		again := failure != nil && errors.Is(failure, errOtherRange)
		if !again && (failure != nil || !t.sendPart()) {
			return failure
		}
		d.IfNoneMatch = "" // the first read has answered it
	}
}

// isCrossSite reports whether a browser sends a request for a page of another site without naming that page's origin.
// Requests with an Origin were checked by the caller.
func isCrossSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		return r.Header.Get("Origin") == ""
	}
	return false
}
