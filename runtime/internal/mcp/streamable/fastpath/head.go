package fastpath

import "bytes"

// net/http answers larger requests.
const (
	maxHead = 8 << 10  // bytes
	maxBody = 32 << 10 // bytes
)

// A head is the part of an HTTP request before its body, as far as it decides who answers the request. Absent values
// are nil.
type head struct {
	size int // bytes, with the empty line
	body int // bytes
	// lengthKnown means that size and body are certain: the next request begins after them.
	lengthKnown bool
	// plain means that the request is a POST of JSON, and no header asks for anything unusual.
	plain bool

	path, host, accept, version, method, name, session, encoding []byte

	authorization []byte

	forwarded, forwardedFor []byte // Forwarded and X-Forwarded-For
	traceparent, tracestate []byte
}

// parseHead reads a head that ends with an empty line, or the lines of a head received so far. It is stricter than the
// standard: net/http gets what it does not accept.
func parseHead(b []byte) head {
	h := head{size: len(b)}
	line, rest, _ := bytes.Cut(b, []byte("\r\n"))
	h.path, h.plain = postPath(line)
	h.lengthKnown = h.plain || isRequestLine(line)
	var length, kind []byte
	for h.lengthKnown {
		if line, rest, _ = bytes.Cut(rest, []byte("\r\n")); len(line) == 0 {
			break
		}
		name, value, ok := cutField(line)
		if !ok {
			h.lengthKnown = false
			break
		}
		switch field, known := h.field(name, &length, &kind); {
		case !known:
			h.noteHeader(name, value)
		case *field != nil:
			h.lengthKnown = false // net/http refuses some headers that come twice
		default:
			*field = value
		}
	}
	h.lengthKnown = h.lengthKnown && h.parseContentLength(length)
	h.plain = h.plain && h.lengthKnown && h.host != nil && isJSON(kind)
	return h
}

// field returns where the value of a header is stored that may come once.
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
	case equalFold(name, "authorization"):
		return &h.authorization, true
	case equalFold(name, "mcp-protocol-version"):
		return &h.version, true
	case equalFold(name, "mcp-method"):
		return &h.method, true
	case equalFold(name, "mcp-name"):
		return &h.name, true
	case equalFold(name, "mcp-session-id"):
		return &h.session, true
	case equalFold(name, "traceparent"):
		return &h.traceparent, true
	case equalFold(name, "tracestate"):
		return &h.tracestate, true
	}
	return nil, false
}

// noteHeader records what any other header asks for.
func (h *head) noteHeader(name, value []byte) {
	switch {
	case equalFold(name, "connection"):
		h.plain = h.plain && equalFold(value, "keep-alive")
	case equalFold(name, "forwarded"):
		h.plain = h.plain && h.forwarded == nil
		h.forwarded = value
	case equalFold(name, "x-forwarded-for"):
		h.plain = h.plain && h.forwardedFor == nil
		h.forwardedFor = value
	case equalFold(name, "transfer-encoding"), equalFold(name, "expect"), equalFold(name, "upgrade"),
		equalFold(name, "trailer"), equalFold(name, "te"):
		h.lengthKnown = false
	case equalFold(name, "origin"), equalFold(name, "content-encoding"),
		equalFold(name, "access-control-request-method"), equalFold(name, "wasmres-version"):
		h.plain = false
	}
}

// parseContentLength reads the length of the body; nil is absent.
func (h *head) parseContentLength(length []byte) (ok bool) {
	if length == nil {
		return true
	}
	const digits = 9 // more than maxBody has, and too few to overflow
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

// postPath returns the path of a request line with POST, a plain path and no query.
func postPath(line []byte) (path []byte, ok bool) {
	path, post := bytes.CutPrefix(line, []byte("POST "))
	path, known := bytes.CutSuffix(path, []byte(" HTTP/1.1"))
	return path, post && known && isPath(path)
}

// isRequestLine reports whether a line begins a request whose length is as its headers say.
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

// isPath reports whether a path needs no decoding.
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
// and tabs. The value is never nil.
func cutField(line []byte) (name, value []byte, ok bool) {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 {
		return nil, nil, false
	}
	name, value = line[:colon], bytes.Trim(line[colon+1:], " \t")
	if value == nil {
		value = line[len(line):] // not absent
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

// isHost reports whether a Host has only characters of names and addresses. Any other may be invalid.
func isHost(host []byte) bool {
	for _, c := range host {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && bytes.IndexByte([]byte(".-:[]"), c) < 0 {
			return false
		}
	}
	return true
}

// isJSON reports whether a Content-Type is that of JSON, in one of the usual spellings.
func isJSON(kind []byte) bool {
	return equalFold(kind, "application/json") || equalFold(kind, "application/json; charset=utf-8") ||
		equalFold(kind, "application/json;charset=utf-8")
}
