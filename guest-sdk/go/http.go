package wasmres

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/host"
	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// An HTTPRequest asks a server for something, by a URL the operator granted.
type HTTPRequest struct {
	Method string // empty for GET
	URL    string // absolute, http or https
	// Header is sent as it is, but for {{secret:NAME}} in a value: there the host fills a secret in that the operator
	// granted for the server, and takes it out of what comes back.
	Header   HTTPHeader
	Body     []byte
	MaxBytes int64         // the body of the answer may have; 0 for as many as are granted
	Timeout  time.Duration // for all of it, reading the answer included; 0 for as long as is granted
}

// An HTTPHeader is a list of fields.
type HTTPHeader []HTTPField

// An HTTPField is one field of a header.
type HTTPField struct{ Name, Value string }

// Get gives the value of the first field of that name, in either case; empty when there is none.
func (h HTTPHeader) Get(name string) string {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// An HTTPResponse is what a server answered, whatever its status.
type HTTPResponse struct {
	Status int
	Header HTTPHeader
	URL    string    // the one that answered, after redirects
	Body   io.Reader // never nil; what does not fit one answer of the host is fetched while it is read
}

// Get fetches a URL: see [HTTP].
func Get(url string) (*HTTPResponse, error) { return HTTP(HTTPRequest{URL: url}) }

// HTTP sends a request and gives the answer, after redirects. It needs the power "http": see [Ask]. A status such as
// 404 is no error: see [HTTPResponse.Err]. The body can be read until the handler returns, or handed to [Stream]; it
// fails with [ErrTooLarge] when it has more bytes than are granted.
//
// [ErrDenied] says that the operator did not grant this, [ErrUnavailable] that there was no answer, [ErrDeadline] that
// it did not come in time, [ErrInvalid] that the request makes no sense.
//
// In native tests wasmrestest hands requests to any http.RoundTripper.
func HTTP(request HTTPRequest) (*HTTPResponse, error) {
	b := request.append(make([]byte, 0, 256+len(request.Body)))
	if len(b) > maxService {
		return nil, &Error{Code: codeTooLarge, Message: "the request is too large"}
	}
	code, n := host.Call(serviceHTTP, b)
	if code != codeOK {
		return nil, codeError(code)
	}
	answer, body := &HTTPResponse{}, &httpBody{}
	if !answer.decode(response(n), body) {
		return nil, ErrInternal
	}
	body.take()
	answer.Body = body
	return answer, nil
}

// Err is nil when the status says that the request was successful. Otherwise it is an error of the class that the
// status belongs to, which a handler may return.
func (r *HTTPResponse) Err() error {
	if r.Status >= 200 && r.Status < 300 {
		return nil
	}
	e := &Error{Code: codeInternal, Message: "the server answers " + strconv.Itoa(r.Status)}
	switch {
	case r.Status == 404, r.Status == 410:
		e.Code = codeNotFound
	case r.Status == 401, r.Status == 403:
		e.Code = codeDenied
	case r.Status == 408, r.Status == 429, r.Status >= 500:
		e.Code = codeUnavailable
		if seconds, err := strconv.ParseInt(r.Header.Get("Retry-After"), 10, 32); err == nil && seconds > 0 {
			e.RetryAfter = time.Duration(seconds) * time.Second
		}
	}
	return e
}

func (q *HTTPRequest) append(b []byte) []byte {
	b = wire.AppendString(b, 1, q.Method)
	b = wire.AppendString(b, 2, q.URL)
	for _, f := range q.Header {
		var at int
		b, at = wire.Begin(b, 3)
		b = wire.AppendString(b, 1, f.Name)
		b = wire.AppendString(b, 2, f.Value)
		b = wire.End(b, at)
	}
	if len(q.Body) > 0 {
		b = wire.AppendBytes(b, 4, q.Body)
	}
	b = wire.AppendUint(b, 5, size(q.MaxBytes))
	return wire.AppendUint(b, 6, min(millis(q.Timeout), 1<<32-1))
}

// decode fills r, and body with what leads to the rest of it.
func (r *HTTPResponse) decode(s string, body *httpBody) bool {
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok {
			return false
		}
		switch f.Num {
		case 1:
			r.Status = int(int32(f.Bits)) // it has three digits
		case 2:
			h, ok := fieldOf(f.Text)
			if !ok {
				return false
			}
			r.Header = append(r.Header, h)
		case 3:
			r.URL = f.Text
		case 4:
			body.stream = f.Bits
		}
		s = rest
	}
	return true
}

func fieldOf(s string) (h HTTPField, ok bool) {
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok {
			return h, false
		}
		switch f.Num {
		case 1:
			h.Name = f.Text
		case 2:
			h.Value = f.Text
		}
		s = rest
	}
	return h, true
}

// An httpBody is the body of an answer. It holds one part of it; the host has the rest.
type httpBody struct {
	part   []byte // not read yet
	room   []byte // what part is in
	stream uint64 // by which the host gives the next part; 0 when there is none
	err    error  // that ended it
}

// Read implements [io.Reader].
func (b *httpBody) Read(p []byte) (int, error) {
	for len(b.part) == 0 && b.err == nil {
		if b.stream == 0 {
			return 0, io.EOF
		}
		b.err = b.next()
	}
	if len(b.part) == 0 {
		return 0, b.err
	}
	n := copy(p, b.part)
	b.part = b.part[n:]
	return n, nil
}

// next fetches the next part.
func (b *httpBody) next() error {
	code, n := host.Call(serviceStream, wire.AppendUint(nil, 1, b.stream))
	if code != codeOK {
		return codeError(code)
	}
	more := false
	for s := response(n); s != ""; {
		f, rest, ok := wire.Next(s)
		if !ok {
			return ErrInternal
		}
		if f.Num == 1 {
			more = f.Bits != 0
		}
		s = rest
	}
	if !more {
		b.stream = 0
	}
	b.take()
	return nil
}

// take takes over what the host has beside its answer, which is gone with the next service call.
func (b *httpBody) take() {
	const least = 8 << 10
	b.part = b.room[:0]
	for {
		if len(b.part) == cap(b.part) {
			b.part = append(make([]byte, 0, max(4*len(b.part), least)), b.part...)
		}
		have := uint32(len(b.part))
		n := host.Take(channelBody, b.part[have:cap(b.part)], have)
		if b.part = b.part[:have+n]; len(b.part) < cap(b.part) {
			b.room = b.part
			return
		}
	}
}
