// Package uripath writes names of files and tables into URIs, for several of the examples.
package uripath

import "strings"

// Escape percent-encodes what must not stand in the path of a URI.
func Escape(path string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(path) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// EscapeSegment percent-encodes what must not stand in one segment of a path, or in a value of a query as templates have
// it: slashes too.
func EscapeSegment(s string) string { return strings.ReplaceAll(Escape(s), "/", "%2F") }
