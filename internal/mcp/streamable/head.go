package streamable

import "bytes"

const (
	maxHead = 8 << 10  // bytes of a head that is looked at
	maxBody = 32 << 10 // bytes of a body that is answered without net/http
)

// A head is the part of an HTTP request before its body, as far as it decides who answers. What is absent is nil.
type head struct {
	size int // bytes, the blank line included
	body int // bytes
	// framed says that size and body are beyond doubt: the next request, if there is one, begins after them.
	framed bool
	// plain says that it is a POST of JSON to the endpoint, and has no header that asks for anything unusual.
	plain bool

	host, accept, version, method, name, session, encoding []byte
}

const requestLine = "POST " + Path + " HTTP/1.1"

// parseHead reads a head, which ends with a blank line. It is stricter than the standard: what it does not take is read
// once more by net/http, which knows better.
func parseHead(b []byte) head {
	h := head{size: len(b)}
	line, rest, _ := bytes.Cut(b, []byte("\r\n"))
	h.plain = string(line) == requestLine
	h.framed = h.plain || isRequestLine(line)
	var length, kind []byte
	for h.framed {
		if line, rest, _ = bytes.Cut(rest, []byte("\r\n")); len(line) == 0 {
			break
		}
		name, value, ok := cutField(line)
		if !ok {
			h.framed = false
			break
		}
		switch field, known := h.field(name, &length, &kind); {
		case !known:
			h.consider(name, value)
		case *field != nil:
			h.framed = false // net/http refuses some that come twice
		default:
			*field = value
		}
	}
	h.framed = h.framed && h.measure(length)
	h.plain = h.plain && h.framed && h.host != nil && isJSON(kind)
	return h
}

// field gives the place for the value of a header that may come once.
func (h *head) field(name []byte, length, kind *[]byte) (field *[]byte, known bool) {
	switch {
	case equalFold(name, "host"):
		return &h.host, true
	case equalFold(name, "accept"):
		return &h.accept, true
	case equalFold(name, "content-type"):
		return kind, true
	case equalFold(name, "content-length"):
		return length, true
	case equalFold(name, "accept-encoding"):
		return &h.encoding, true
	case equalFold(name, "mcp-protocol-version"):
		return &h.version, true
	case equalFold(name, "mcp-method"):
		return &h.method, true
	case equalFold(name, "mcp-name"):
		return &h.name, true
	case equalFold(name, "mcp-session-id"):
		return &h.session, true
	}
	return nil, false
}

// consider notes what any other header asks for.
func (h *head) consider(name, value []byte) {
	switch {
	case equalFold(name, "connection"):
		h.plain = h.plain && equalFold(value, "keep-alive")
	case equalFold(name, "transfer-encoding"), equalFold(name, "expect"), equalFold(name, "upgrade"),
		equalFold(name, "trailer"), equalFold(name, "te"):
		h.framed = false
	case equalFold(name, "origin"), equalFold(name, "authorization"), equalFold(name, "content-encoding"),
		equalFold(name, "access-control-request-method"):
		h.plain = false
	}
}

// measure reads the length of the body.
func (h *head) measure(length []byte) (ok bool) {
	if length == nil {
		return true
	}
	const digits = 9 // no overflow, and more than is ever taken
	if len(length) == 0 || len(length) > digits {
		return false
	}
	for _, c := range length {
		if c < '0' || c > '9' {
			return false
		}
		h.body = h.body*10 + int(c-'0')
	}
	return true
}

// isRequestLine reports whether a line begins a request with a method whose framing holds no surprises.
func isRequestLine(line []byte) bool {
	method, rest, _ := bytes.Cut(line, []byte(" "))
	target, version, _ := bytes.Cut(rest, []byte(" "))
	switch string(method) {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		path, query, _ := bytes.Cut(target, []byte("?"))
		return isPath(path) && isVisible(query) && bytes.IndexByte(query, '\t') < 0 && string(version) == "HTTP/1.1"
	}
	return false
}

// isPath reports whether a path is of what needs no decoding.
func isPath(path []byte) bool {
	for _, c := range path {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '/' && c != '-' && c != '.' && c != '_' && c != '~' {
			return false
		}
	}
	return len(path) > 0 && path[0] == '/'
}

// cutField splits a header field into its name and value, of letters, digits and dashes, and of visible ASCII, spaces
// and tabs. A value is never nil.
func cutField(line []byte) (name, value []byte, ok bool) {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 {
		return nil, nil, false
	}
	name, value = line[:colon], bytes.Trim(line[colon+1:], " \t")
	if value == nil {
		value = line[len(line):] // it counts as one that was there
	}
	for _, c := range name {
		if lower := c | 0x20; (lower < 'a' || lower > 'z') && (c < '0' || c > '9') && c != '-' {
			return nil, nil, false
		}
	}
	return name, value, isVisible(value)
}

// isVisible reports whether b is visible ASCII, spaces and tabs.
func isVisible(b []byte) bool {
	for _, c := range b {
		if (c < ' ' || c > '~') && c != '\t' {
			return false
		}
	}
	return true
}

// equalFold compares an ASCII text with one in lower case.
func equalFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// isHost reports whether a Host is of what names and addresses are made of. Only those are valid beyond doubt.
func isHost(host []byte) bool {
	for _, c := range host {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && bytes.IndexByte([]byte(".-:[]"), c) < 0 {
			return false
		}
	}
	return true
}

// isJSON reports whether a Content-Type is JSON's, in one of the ways clients usually say so.
func isJSON(kind []byte) bool {
	return equalFold(kind, "application/json") || equalFold(kind, "application/json; charset=utf-8") ||
		equalFold(kind, "application/json;charset=utf-8")
}
