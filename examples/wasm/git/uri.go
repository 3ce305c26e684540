package main

import (
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What the host takes, in bytes.
const (
	uriMax  = 2048
	nameMax = 256
)

// uriOf makes a URI from the path of something; ref is empty for HEAD. It is empty when the path cannot be written in a
// URI: trees of strangers have all kinds of names.
func uriOf(scheme, path, ref string) string {
	if !utf8.ValidString(path) || !fs.ValidPath(path) || strings.ContainsFunc(path, unwritable) {
		return ""
	}
	uri := scheme + escape(path)
	if ref != "" {
		uri += "?ref=" + escapeValue(ref)
	}
	if len(uri) > uriMax {
		return ""
	}
	return uri
}

func unwritable(c rune) bool { return c == '\\' || unicode.IsControl(c) }

// escape percent-encodes what must not stand in the path of a URI.
func escape(name string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// escapeValue percent-encodes a value of a query as templates do, slashes included.
func escapeValue(value string) string { return strings.ReplaceAll(escape(value), "/", "%2F") }
