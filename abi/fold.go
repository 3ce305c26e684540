package abi

import "strings"

// FoldURI returns a URI, or the text of a template, with what has no case in lower case, as RFC 3986 section 6.2.2.1 says:
// its scheme and, for http, https, ws, wss, ftp and file, its host. In other schemes what follows the two slashes is
// often a name that has case, as in users://Ada. The host localhost of a file URI is left out: RFC 8089 section 2 says
// that this names the same file. FoldURI changes nothing else, and allocates nothing when there is nothing to change.
func FoldURI(uri string) string {
	colon, hasUpper := schemeEnd(uri)
	if colon < 0 {
		return uri
	}
	scheme := uri[:colon]
	if hasUpper {
		scheme = strings.ToLower(scheme)
	}
	rest := uri[colon:]
	switch scheme {
	case "http", "https", "ws", "wss", "ftp":
		rest = foldHost(rest)
	case "file":
		const local = "://localhost"
		if len(rest) > len(local) && rest[len(local)] == '/' && strings.EqualFold(rest[:len(local)], local) {
			return scheme + "://" + rest[len(local):]
		}
		rest = foldHost(rest)
	}
	if !hasUpper && len(rest) == len(uri)-colon && rest == uri[colon:] {
		return uri
	}
	return scheme + rest
}

// schemeEnd returns the index of the colon after the scheme, and whether there is an upper-case letter before; -1 when uri
// has no scheme, as a template that begins with a variable.
func schemeEnd(uri string) (colon int, hasUpper bool) {
	for i := range len(uri) {
		switch b := uri[i]; {
		case 'a' <= b && b <= 'z':
		case 'A' <= b && b <= 'Z':
			hasUpper = true
		case b == ':':
			return i, hasUpper
		case '0' <= b && b <= '9' || b == '+' || b == '-' || b == '.':
		default:
			return -1, false
		}
	}
	return -1, false
}

// foldHost returns rest, which follows a scheme, with its host in lower case.
func foldHost(rest string) string {
	if !strings.HasPrefix(rest, "://") || !hasUpperBeforeSlash(rest[len("://"):]) {
		return rest
	}
	begin, end := len("://"), len("://")
	for end < len(rest) && !endsHost(rest[end:]) {
		if rest[end] == '@' {
			begin = end + 1 // user information has case
		}
		end = after(rest, end)
	}
	host := lowerHost(rest[begin:end])
	if host == rest[begin:end] {
		return rest
	}
	return rest[:begin] + host + rest[end:]
}

// hasUpperBeforeSlash reports whether there is an upper-case letter up to the first slash, as there seldom is.
func hasUpperBeforeSlash(s string) bool {
	for i := range len(s) {
		switch b := s[i]; {
		case 'A' <= b && b <= 'Z':
			return true
		case b == '/':
			return false
		}
	}
	return false
}

// endsHost reports whether the host has ended before rest, which is not empty. A variable of a template that may begin a
// path, a query or a fragment, or have slashes, ends it too.
func endsHost(rest string) bool {
	if rest[0] == '{' {
		return len(rest) > 1 && strings.IndexByte("/?#+", rest[1]) >= 0
	}
	return strings.IndexByte("/?#", rest[0]) >= 0
}

// lowerHost returns a host in lower case, but for its escapes and the variables of a template.
func lowerHost(host string) string {
	var lower []byte
	for i := 0; i < len(host); i = after(host, i) {
		if c := host[i]; 'A' <= c && c <= 'Z' {
			if lower == nil {
				lower = []byte(host)
			}
			lower[i] = c | 0x20
		}
	}
	if lower == nil {
		return host
	}
	return string(lower)
}

// after returns the index behind the byte, the escape, or the variable of a template that begins at i.
func after(s string, i int) int {
	switch s[i] {
	case '%':
		return min(i+3, len(s))
	case '{':
		if n := strings.IndexByte(s[i:], '}'); n >= 0 {
			return i + n + 1
		}
		return len(s)
	}
	return i + 1
}
