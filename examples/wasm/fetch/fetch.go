// Package fetch gets resources from servers of APIs. The examples github and openapi use it.
package fetch

import (
	"hash/fnv"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// Most is how many bytes of an answer are read.
const Most = 8 << 20

// Get sends a GET request with what is configured as authorization, if anything, and with further fields. It returns
// the answer if its status is one of success.
func Get(r *wasmres.Request, url string, fields ...wasmres.HTTPField) (*wasmres.HTTPResponse, error) {
	request := wasmres.HTTPRequest{URL: url, Header: fields, MaxBytes: Most}
	if authorization, ok := r.Config("authorization"); ok {
		request.Header = append(request.Header, wasmres.HTTPField{Name: "Authorization", Value: authorization})
	}
	resp, err := wasmres.HTTP(request)
	if e, ok := err.(*wasmres.Error); ok && e.Code == wasmres.ErrDenied.Code {
		return nil, wasmres.Denied("the server may not be asked: has it been granted, as with --net?").Because(err)
	}
	if err != nil {
		return nil, err
	}
	return resp, resp.Err()
}

// Body reads an answer to its end.
func Body(resp *wasmres.HTTPResponse) ([]byte, error) { return io.ReadAll(resp.Body) }

// Content returns bytes as text if they are UTF-8 without zero bytes, and as they are if not.
func Content(b []byte) (c wasmres.Content, isText bool) {
	text := string(b)
	if utf8.ValidString(text) && !strings.Contains(text, "\x00") {
		return wasmres.Text(text), true
	}
	return wasmres.Bytes(b), false
}

// ETag names the version of an answer: as its server does, or else by its bytes.
func ETag(resp *wasmres.HTTPResponse, body []byte) string {
	if tag := resp.Header.Get("ETag"); tag != "" {
		return tag
	}
	h := fnv.New64a()
	h.Write(body)
	return strconv.FormatUint(h.Sum64(), 36)
}

// MIME returns the media type of an answer, without its parameters; empty when the server does not say.
func MIME(resp *wasmres.HTTPResponse) string {
	mime, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(mime))
}
