package main

import (
	"errors"
	"io/fs"
	"strings"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

const (
	depthMax   = 16  // how deep folders are listed
	foldersMax = 500 // are looked into for one page
	batch      = 256 // entries that are read of a folder at a time
)

// errFull ends a walk whose page is full.
var errFull = errors.New("the page is full")

// list lists the documents there are, then all files, each folder in the order of its names. The cursor is the path of the
// last file listed, or of the last folder that is done: a page depends neither on the ones before it nor on what came or went meanwhile, and reads
// nothing of what comes before.
func list(r *wasmres.Request, page *wasmres.Page) error {
	t, cursor := configured(r), page.Cursor()
	last := cursor
	switch {
	case strings.HasPrefix(documentsDone, cursor):
		if more, err := listDocuments(t, page, cursor); !more || err != nil {
			return t.explain(".", err)
		}
		cursor, last = "", documentsDone
	case t.check(cursor) != nil:
		return wasmres.Invalid("unknown cursor")
	}
	w := walk{tree: t, request: r, page: page, last: last}
	err := w.folder(".", cursor)
	if err == errFull {
		page.Next(w.last)
		return nil
	}
	return t.explain(".", err)
}

// A walk fills one page.
type walk struct {
	tree
	request *wasmres.Request
	page    *wasmres.Page
	last    string // done, with all before it
	folders int    // looked into
}

// folder lists the files below a folder that come after one of them, which is given by its path in the folder; empty for
// all.
func (w *walk) folder(dir, after string) error {
	if w.folders++; w.folders > foldersMax {
		return errFull
	}
	name, rest, inside := strings.Cut(after, "/")
	if inside {
		if err := w.below(join(dir, name), rest); err != nil {
			return err
		}
	}
	for {
		entries, err := wasmres.ReadDirAfter(w.files, dir, name, batch)
		if err != nil {
			return err
		}
		for _, e := range entries {
			name = e.Name()
			if err := w.entry(join(dir, name), e); err != nil {
				return err
			}
		}
		if len(entries) < batch {
			return nil
		}
	}
}

// entry lists a file, or the files below a folder.
func (w *walk) entry(path string, e fs.DirEntry) error {
	uri := uriOf(path)
	if uri == "" || !w.shows(path) {
		return nil
	}
	if e.IsDir() {
		return w.below(path, "")
	}
	if !w.page.Add(entryOf(uri, path, e)) {
		return errFull
	}
	w.last = path
	return nil
}

// below lists a folder that is not the first one. What cannot be read is left out.
func (w *walk) below(dir, after string) error {
	if strings.Count(dir, "/") >= depthMax {
		return nil
	}
	err := w.folder(dir, after)
	if err == errFull {
		return err
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // it may be gone
		w.request.Warn("a folder is left out: " + err.Error())
	}
	w.last = dir
	return nil
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

func entryOf(uri, path string, e fs.DirEntry) wasmres.Entry {
	mime, _ := promised(path)
	entry := wasmres.Entry{URI: uri, Name: e.Name(), MIME: mime}
	if info, err := e.Info(); err == nil {
		entry.Size, entry.LastModified = info.Size(), info.ModTime()
	}
	return entry
}
