package main

import (
	"io/fs"
	"strings"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// A document is a file at the root with a URI of its own, which has one of several names. It is listed where there is one.
type document struct {
	uri, title, description string
	names                   []string // the first that exists counts
}

var documents = []document{
	{
		"file://readme", "Readme", "What the directory says of itself.", []string{"README.md", "README.txt", "README"},
	},
	{
		"file://config", "Configuration", "The configuration at the top of the directory.",
		[]string{"config.yaml", "config.yml", "config.json", "config.toml"},
	},
	{
		"file://changelog", "Changelog", "What has changed from version to version.",
		[]string{"CHANGELOG.md", "CHANGELOG.txt", "CHANGELOG", "CHANGES.md"},
	},
}

// documentsDone is the cursor after the documents; that before the last n of them is shorter by n slashes. No path is one.
const documentsDone = "///"

// prefixes gives what the URIs of the provider begin with.
func prefixes() []string {
	all := []string{scheme}
	for _, d := range documents {
		all = append(all, d.uri)
	}
	return all
}

// readOther answers with what the template has no path for: documents, and the files at the root.
func readOther(r *wasmres.Request) (wasmres.Content, error) {
	t := configured(r)
	if r.URI == scheme {
		return t.folder("")
	}
	for _, d := range documents {
		if d.uri != r.URI {
			continue
		}
		top, err := t.top()
		if err != nil {
			return wasmres.Content{}, t.explain(d.names[0], err)
		}
		e := d.find(t, top)
		if e == nil {
			return wasmres.Content{}, missing(d.names[0])
		}
		return t.read(r, e.Name())
	}
	return wasmres.Content{}, wasmres.NotFound("")
}

// top gives the first entries of the root, of which there are others when these are batch.
func (t tree) top() ([]fs.DirEntry, error) { return wasmres.ReadDirAfter(t.files, ".", "", batch) }

// find gives the file of a document among the first entries of the root; nil for none. It asks for a file by its name only
// where there are more entries: where the operator granted folders below the root, it can be listed, but has no files.
func (d document) find(t tree, top []fs.DirEntry) fs.DirEntry {
	for _, name := range d.names {
		for _, e := range top {
			if e.Name() == name && !e.IsDir() {
				return e
			}
		}
		if len(top) < batch || name <= top[batch-1].Name() {
			continue
		}
		if info, err := fs.Stat(t.files, name); err == nil && !info.IsDir() {
			return fs.FileInfoToDirEntry(info)
		}
	}
	return nil
}

// listDocuments lists the documents there are after a cursor. It reports false when the page is full.
func listDocuments(t tree, page *wasmres.Page, cursor string) (more bool, err error) {
	top, err := t.top()
	for ; err == nil && cursor != documentsDone; cursor += "/" {
		d := documents[len(cursor)]
		file := d.find(t, top)
		if file == nil {
			continue
		}
		e := entryOf(d.uri, file.Name(), file)
		e.Name, e.Title, e.Description = strings.TrimPrefix(d.uri, "file://"), d.title, d.description
		if !page.Add(e) {
			page.Next(cursor)
			return false, nil
		}
	}
	return true, err
}
