package load

import (
	"bytes"
	"errors"
	"fmt"
)

// A response reads one HTTP response after the other, as it comes in.
type response struct {
	step   step
	head   []byte // of a head that came in parts
	left   int64  // bytes of the body or chunk still to come
	line   []byte // of a chunk's size that came in parts
	status int
	stream bool    // of events, of which one is the message
	body   int64   // bytes of the body so far, without its framing
	keep   *[]byte // where the body goes; nil to only count
	kept   []byte  // the head, when the body is kept
}

type step int

const (
	inHead step = iota
	inBody
	inSize
	inChunk
	inTrailer
)

var (
	headEnd   = []byte("\r\n\r\n")
	mimeType  = []byte("\r\ncontent-type:")
	events    = []byte("text/event-stream")
	length    = []byte("\r\ncontent-length:")
	encoding  = []byte("\r\ntransfer-encoding:")
	sessionID = []byte("\r\nmcp-session-id:")
)

const headMax = 64 << 10

func (r *response) reset() { r.step, r.left, r.body, r.status, r.head = inHead, 0, 0, 0, r.head[:0] }

// feed takes what was read and reports whether the response is complete. Nothing may come behind its end.
func (r *response) feed(b []byte) (done bool, err error) {
	for len(b) > 0 && !done && err == nil {
		switch r.step {
		case inHead:
			b, done, err = r.feedHead(b)
		case inBody:
			b = r.take(b)
			done = r.left == 0
		case inSize:
			b, err = r.feedSize(b)
		case inChunk:
			b = r.takeChunk(b)
		case inTrailer:
			at := bytes.IndexByte(b, '\n')
			done, b = at >= 0, b[at+1:]
			if !done {
				return false, nil
			}
		}
	}
	if done && len(b) > 0 {
		err = fmt.Errorf("%d bytes behind the end of a response", len(b))
	}
	return done, err
}

func (r *response) feedHead(b []byte) (rest []byte, done bool, err error) {
	if len(r.head) == 0 {
		if end := bytes.Index(b, headEnd); end >= 0 {
			done, err = r.parse(b[:end+len(headEnd)])
			return b[end+len(headEnd):], done, err
		}
	}
	had := len(r.head)
	r.head = append(r.head, b...)
	seen := max(0, had-len(headEnd))
	end := bytes.Index(r.head[seen:], headEnd)
	switch {
	case end >= 0:
		end += seen + len(headEnd)
		done, err = r.parse(r.head[:end])
		return b[end-had:], done, err
	case len(r.head) > headMax:
		return nil, false, errors.New("the head of a response has no end")
	}
	return nil, false, nil
}

func (r *response) parse(head []byte) (done bool, err error) {
	if len(head) < len("HTTP/1.1 200") {
		return false, fmt.Errorf("a response begins with %q", head)
	}
	for _, c := range head[9:12] {
		r.status = r.status*10 + int(c-'0')
	}
	if r.keep != nil {
		r.kept = append(r.kept[:0], head...)
	}
	r.stream = bytes.HasPrefix(value(head, mimeType), events)
	if v := value(head, length); v != nil {
		r.step = inBody
		r.left, err = number(v, 10)
		return r.left == 0, err
	}
	if value(head, encoding) != nil {
		r.step = inSize
		return false, nil
	}
	if r.status != 202 && r.status != 204 {
		return false, fmt.Errorf("a response of unknown length: %q", head)
	}
	return true, nil
}

func (r *response) take(b []byte) (rest []byte) {
	n := min(int64(len(b)), r.left)
	if r.keep != nil {
		*r.keep = append(*r.keep, b[:n]...)
	}
	r.left -= n
	r.body += n
	return b[n:]
}

// takeChunk takes bytes of a chunk. Its last two, a line's end, are not part of the body; left counts them as well.
func (r *response) takeChunk(b []byte) (rest []byte) {
	if r.left > 2 {
		r.left -= 2
		b = r.take(b)
		r.left += 2
	}
	n := min(int64(len(b)), r.left)
	if r.left <= 2 {
		r.left -= n
		b = b[n:]
	}
	if r.left == 0 {
		r.step = inSize
	}
	return b
}

func (r *response) feedSize(b []byte) (rest []byte, err error) {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		r.line = append(r.line, b...)
		return nil, nil
	}
	r.line = append(r.line, b[:end]...)
	n, err := number(bytes.TrimSpace(r.line), 16)
	r.line = r.line[:0]
	if n == 0 {
		r.step = inTrailer
	} else {
		r.left, r.step = n+2, inChunk
	}
	return b[end+1:], err
}
