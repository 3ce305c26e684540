package main

import (
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wasmres/wasmres/examples/wasm/uripath"
	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// uriMax is how many bytes the host takes for a URI.
const uriMax = 2048

// check refuses paths that lead out of the tree, and those that are hidden. The host has refused the former already; a
// provider that holds files does not rely on it.
func (t tree) check(path string) error {
	switch {
	case !fs.ValidPath(path), path == ".", strings.ContainsFunc(path, unwritable):
		return wasmres.Invalid("not the path of a file: " + strconv.Quote(path))
	case !t.shows(path):
		return missing(path)
	}
	return nil
}

// shows reports whether no element of a path is hidden.
func (t tree) shows(path string) bool {
	return t.hidden || !strings.HasPrefix(path, ".") && !strings.Contains(path, "/.")
}

// unwritable reports whether a character cannot stand in the path of a URI, not even encoded.
func unwritable(c rune) bool { return c == '\\' || unicode.IsControl(c) }

// uriOf gives the URI of a file, or nothing when it cannot have one.
func uriOf(path string) string {
	uri := scheme + uripath.Escape(path)
	if len(uri) > uriMax || !utf8.ValidString(path) || strings.ContainsFunc(path, unwritable) {
		return ""
	}
	return uri
}

func missing(path string) error { return wasmres.NotFound("there is no file " + strconv.Quote(path)) }

// explain words for the client what went wrong with a file.
func (t tree) explain(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missing(path)
	case errors.Is(err, fs.ErrPermission):
		return wasmres.Denied(strconv.Quote(path) + " may not be read: has a folder been granted, as with --dir FOLDER:" +
			t.root + "?")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // it has fewer bytes than it had a moment ago
		return wasmres.Unavailable(strconv.Quote(path)+" is being written", 0)
	}
	return err
}
