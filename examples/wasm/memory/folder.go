package main

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wasmres/wasmres/examples/wasm/uripath"
	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

const (
	folder  = "/memory" // where the operator mounts what others write
	fileMax = 8 << 20   // bytes of a file that is served
)

// types has the media types of files, by the ends of their names.
var types = map[string]string{
	".json": "application/json", ".jsonl": "application/jsonl", ".md": "text/markdown", ".txt": "text/plain", "": "text/plain",
}

// A file is one in the folder. Its key is its name without the end.
type file struct {
	name string
	info fs.FileInfo
}

func (f file) key() string  { return strings.TrimSuffix(f.name, path.Ext(f.name)) }
func (f file) mime() string { return types[path.Ext(f.name)] }

func (f file) etag() string {
	return strconv.FormatInt(f.info.ModTime().UnixNano(), 36) + "-" + strconv.FormatInt(f.info.Size(), 36)
}

// isGranted reports whether there is a folder.
func isGranted() bool {
	_, err := wasmres.Dir(folder).Stat(".")
	return err == nil
}

// files returns the files whose key begins with a prefix, in the order of their names; none if no folder is granted.
func files(prefix string) (all []file, err error) {
	entries, err := wasmres.Dir(folder).ReadDir(".")
	if errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	for _, e := range entries {
		info, err := e.Info()
		f := file{e.Name(), info}
		if err == nil && !e.IsDir() && !strings.HasPrefix(f.name, ".") && f.mime() != "" && strings.HasPrefix(f.key(), prefix) {
			all = append(all, f)
		}
	}
	return all, err
}

// fileOf returns the file with a key, if there is one.
func fileOf(key string) (f file, ok bool, err error) {
	all, err := files(key)
	for _, f := range all {
		if f.key() == key {
			return f, true, nil
		}
	}
	return f, false, err
}

// content reads the file: text if it is UTF-8, and bytes if not.
func (f file) content() (c wasmres.Content, err error) {
	open, err := wasmres.Dir(folder).Open(f.name)
	if err != nil {
		return c, err
	}
	defer open.Close()
	b, err := io.ReadAll(io.LimitReader(open, fileMax+1))
	if err != nil {
		return c, err
	}
	if len(b) > fileMax {
		return c, wasmres.ErrTooLarge
	}
	c = wasmres.Bytes(b)
	if utf8.Valid(b) {
		c = wasmres.Text(string(b))
	}
	return c.MIME(f.mime()).ETag(f.etag()).LastModified(f.info.ModTime()), nil
}

// Cursors of pages that go on with a file begin with fileCursor, and valuesCursor leads to the first value. No key of a
// value has such a character.
const (
	fileCursor   = "\n"
	valuesCursor = "\r"
)

// listFiles lists the files after the cursor, and reports whether all of them have been listed.
func listFiles(page *wasmres.Page, all []file) (done bool) {
	last, ok := strings.CutPrefix(page.Cursor(), fileCursor)
	if page.Cursor() != "" && !ok {
		return true
	}
	for _, f := range all {
		if f.name <= last {
			continue
		}
		entry := wasmres.Entry{URI: contextURI + uripath.EscapeSegment(f.key()), Name: f.key(), MIME: f.mime(), Size: f.info.Size(),
			LastModified: f.info.ModTime()}
		if !page.Add(entry) {
			page.Next(fileCursor + last)
			return false
		}
		last = f.name
	}
	return true
}
