package download

import (
	"errors"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
)

// revalidate allows clients to cache a download, if they ask each time whether it is current.
const revalidate = "private, no-cache"

// setHeaders sets the headers that describe a content. A guest chooses its type, so the headers prevent browsers from
// showing it as a page of this server.
func setHeaders(header http.Header, c *abi.Content) {
	header.Set("Content-Type", contentType(c))
	name := map[string]string{"filename": filename(c.URI)}
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", name))
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", revalidate)
}

// contentType returns the type of a content if it is well-formed, and otherwise a general one.
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
		params = map[string]string{"charset": "utf-8"} // the host has checked that text is UTF-8
	}
	if text := mime.FormatMediaType(kind, params); text != "" {
		return text
	}
	return "application/octet-stream"
}

// filename makes the name of a saved file from the last segment of the URI.
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
	if errors.As(e, &public) {
		response.SetRetryAfter(w.Header(), public.RetryAfter)
	}
	response.WriteJSON(w, status(e), mcp.AppendError(nil, nil, e))
}

// rangeNotSatisfiable answers a range that lies beyond the resource. The headers that describe the content are removed.
func rangeNotSatisfiable(w http.ResponseWriter) {
	for _, name := range []string{"Content-Disposition", "ETag", "Last-Modified"} {
		w.Header().Del(name)
	}
	response.Refuse(w, http.StatusRequestedRangeNotSatisfiable, "the range lies beyond the resource, or is malformed")
}

// status returns the HTTP status of a failed download. The codes of this server are statuses, except that of the time
// limit: some clients would repeat a request at once after 408.
func status(e *mcp.Error) int {
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
