package main

import (
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wasmres/wasmres/examples/wasm/uripath"
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
	uri := scheme + uripath.Escape(path)
	if ref != "" {
		uri += "?ref=" + uripath.EscapeSegment(ref)
	}
	if len(uri) > uriMax {
		return ""
	}
	return uri
}

func unwritable(c rune) bool { return c == '\\' || unicode.IsControl(c) }
