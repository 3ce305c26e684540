package main

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/wasmres/wasmres/examples/wasm/uripath"
	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// depthMax is how deep folders are listed.
const depthMax = 16

// dependencies is a folder of other projects' files: they can be read but are not listed.
const dependencies = "node_modules"

// errFull ends a walk whose page is full.
var errFull = errors.New("the page is full")

// documentsDone is the cursor after the documents; that before the last n of them is shorter by n slashes. No path is one.
const documentsDone = "//"

// list lists the documents there are, then all files in the order of a walk. The cursor is the path of the last file
// listed, so that a page neither depends on the ones before nor on what came or went meanwhile, and folders that are done
// are not read again.
func list(_ *wasmres.Request, page *wasmres.Page) error {
	cursor := page.Cursor()
	if !strings.HasPrefix(documentsDone, cursor) {
		if check(cursor) != nil {
			return wasmres.Invalid("unknown cursor")
		}
		return listFiles(page, cursor, cursor)
	}
	for ; cursor != documentsDone; cursor += "/" {
		e, there, err := documents[len(cursor)].listed()
		if err != nil {
			return err
		}
		if there && !page.Add(e) {
			page.Next(cursor)
			return nil
		}
	}
	return listFiles(page, "", documentsDone)
}

// listFiles lists the files after one; last is the cursor that leads to the first of them.
func listFiles(page *wasmres.Page, cursor, last string) error {
	err := fs.WalkDir(project, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			return nil // a folder that cannot be read, or is gone, is left out
		case name == ".":
			return nil
		case d.IsDir():
			return enter(name, cursor)
		case check(name) != nil || !after(name, cursor):
			return nil
		case !page.Add(entryOf(name, d)):
			page.Next(last)
			return errFull
		}
		last = name
		return nil
	})
	if err == nil || err == errFull {
		return nil
	}
	return explain(".", err)
}

// enter tells a walk whether there is something to list in a folder.
func enter(name, cursor string) error {
	inside := strings.HasPrefix(cursor, name+"/")
	if path.Base(name) == dependencies || check(name) != nil || strings.Count(name, "/") >= depthMax || !inside && !after(name, cursor) {
		return fs.SkipDir
	}
	return nil
}

// after reports whether a walk meets name after cursor: names are compared element by element.
func after(name, cursor string) bool {
	return strings.ReplaceAll(name, "/", "\x00") > strings.ReplaceAll(cursor, "/", "\x00")
}

func entryOf(name string, d fs.DirEntry) wasmres.Entry {
	e := wasmres.Entry{URI: uriPrefix + uripath.Escape(name), Name: name, MIME: typeOf(name)}
	if info, err := d.Info(); err == nil {
		e.Size, e.LastModified = info.Size(), info.ModTime()
	}
	return e
}

// completeName suggests files at the top.
func completeName(_ *wasmres.Request, prefix string) ([]string, error) {
	return names(".", prefix, false)
}

// completePath suggests files and folders, one level at a time; folders end in a slash.
func completePath(_ *wasmres.Request, prefix string) ([]string, error) {
	dir, _ := path.Split(prefix)
	if dir == "" {
		return names(".", prefix, true)
	}
	dir = strings.TrimSuffix(dir, "/")
	if check(dir) != nil {
		return nil, nil
	}
	return names(dir, prefix, true)
}

// names gives what of a folder begins with prefix. A folder that is not there has nothing to suggest.
func names(dir, prefix string, folders bool) ([]string, error) {
	entries, err := fs.ReadDir(project, dir)
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	var found []string
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if !strings.HasPrefix(name, prefix) || check(name) != nil || e.IsDir() && !folders {
			continue
		}
		if e.IsDir() {
			name += "/"
		}
		found = append(found, name)
	}
	return found, err
}
