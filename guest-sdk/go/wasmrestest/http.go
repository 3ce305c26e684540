package wasmrestest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// bodyMax is how many bytes of a body one answer holds.
const bodyMax = 64 << 10

// fetch sends what the provider asks for with [Provider.HTTP], and answers with the beginning of the body.
func (c *call) fetch(request string) uint32 {
	if c.p.HTTP == nil {
		return codeDenied
	}
	q, ok := decodeHTTP(request)
	if !ok {
		return codeInvalidParams
	}
	ctx, cancel := context.WithDeadline(context.Background(), c.ends)
	if q.timeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, q.timeout)
	}
	c.ended = append(c.ended, cancel)
	r, err := http.NewRequestWithContext(ctx, q.method, q.url, bytes.NewReader(q.body))
	if err != nil {
		return codeInvalidParams
	}
	r.Header = q.header
	resp, err := (&http.Client{Transport: c.p.HTTP}).Do(r)
	if err != nil {
		return httpCode(err)
	}
	c.ended = append(c.ended, func() { resp.Body.Close() })
	b := wire.AppendUint(nil, 1, uint64(resp.StatusCode))
	for name, values := range resp.Header {
		for _, value := range values {
			b = appendField(b, name, value)
		}
	}
	b = wire.AppendString(b, 3, resp.Request.URL.String())
	left := uint64(math.MaxUint64)
	if q.most > 0 {
		left = q.most
	}
	c.bodies = append(c.bodies, &limitedBody{resp.Body, left})
	id := uint64(len(c.bodies))
	more, code := c.bodyPart(id)
	if more {
		b = wire.AppendUint(b, 4, id)
	}
	c.response = b
	return code
}

// stream answers with the next part of a body.
func (c *call) stream(id uint64) uint32 {
	more, code := c.bodyPart(id)
	c.response = wire.AppendBool(nil, 1, more)
	return code
}

// bodyPart reads the next part of a body, and says whether there is another.
func (c *call) bodyPart(id uint64) (more bool, code uint32) {
	if id == 0 || id > uint64(len(c.bodies)) {
		return false, codeNotFound
	}
	p := make([]byte, bodyMax)
	n, err := io.ReadFull(c.bodies[id-1], p)
	if c.bytes = p[:n]; err == io.EOF || err == io.ErrUnexpectedEOF {
		return false, codeOK
	}
	return err == nil, httpCode(err)
}

var errBody = errors.New("the body has more bytes than were asked for")

func httpCode(err error) uint32 {
	switch {
	case err == nil:
		return codeOK
	case errors.Is(err, errBody):
		return codeTooLarge
	case errors.Is(err, context.DeadlineExceeded):
		return codeDeadline
	}
	return codeUnavailable
}

// A limitedBody fails where a body has more bytes than are left.
type limitedBody struct {
	io.Reader
	left uint64
}

func (l *limitedBody) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if uint64(n) > l.left {
		return 0, errBody
	}
	l.left -= uint64(n)
	return n, err
}

type httpRequest struct {
	method, url string
	header      http.Header
	body        []byte
	most        uint64
	timeout     time.Duration
}

func decodeHTTP(s string) (q httpRequest, ok bool) {
	q.header = http.Header{}
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok {
			return q, false
		}
		switch f.Num {
		case 1:
			q.method = f.Text
		case 2:
			q.url = f.Text
		case 3:
			name, value, ok := decodeField(f.Text)
			if !ok {
				return q, false
			}
			q.header.Add(name, value)
		case 4:
			q.body = []byte(f.Text)
		case 5:
			q.most = f.Bits
		case 6:
			q.timeout = time.Duration(f.Bits) * time.Millisecond
		}
		s = rest
	}
	return q, true
}

func decodeField(s string) (name, value string, ok bool) {
	for s != "" {
		f, rest, ok := wire.Next(s)
		if !ok {
			return "", "", false
		}
		switch f.Num {
		case 1:
			name = f.Text
		case 2:
			value = f.Text
		}
		s = rest
	}
	return name, value, true
}

func appendField(b []byte, name, value string) []byte {
	b, at := wire.Begin(b, 2)
	b = wire.AppendString(b, 1, name)
	b = wire.AppendString(b, 2, value)
	return wire.End(b, at)
}
