package main

import (
	"bytes"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

func file(r *wasmres.Request) (wasmres.Content, error) {
	g, e, err := find(r)
	if err != nil {
		return wasmres.Content{}, err
	}
	o, err := g.EncodedObject(plumbing.BlobObject, e.Hash)
	if err != nil {
		return wasmres.Content{}, missing(e.Hash, err)
	}
	return contentOf(r.Var("path"), o.(*encoded).data).ETag(e.Hash.String()), nil
}

func watchFile(r *wasmres.Request) (string, error) {
	_, e, err := find(r)
	return e.Hash.String(), err
}

// find gives the file a request is about. Of a symbolic link that is the link, which has the path it leads to.
func find(r *wasmres.Request) (g *repository, e object.TreeEntry, err error) {
	g, c, err := openAt(r)
	if err != nil {
		return nil, e, err
	}
	path := r.Var("path")
	if e, err = g.entry(c, path); err != nil {
		return nil, e, err
	}
	switch e.Mode {
	case filemode.Dir:
		err = wasmres.Invalid(strconv.Quote(path) + " is a folder: see " + uriOf("git://tree/", path, r.Var("ref")))
	case filemode.Submodule:
		err = wasmres.Invalid(strconv.Quote(path) + " is commit " + e.Hash.String() + " of another repository, a submodule")
	}
	return g, e, err
}

// contentOf answers with a file: as text if all of it is, else as bytes.
func contentOf(name string, data []byte) wasmres.Content {
	mime := byExtension(name)
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		return wasmres.Text(string(data)).MIME(orElse(mime, "text/plain"))
	}
	if strings.HasPrefix(mime, "text/") {
		mime = ""
	}
	return wasmres.Bytes(data).MIME(orElse(mime, "application/octet-stream"))
}

// byExtension gives the type that a name promises; empty for none.
func byExtension(name string) string { return types[strings.ToLower(path.Ext(name))] }

var types = map[string]string{
	".css": "text/css", ".csv": "text/csv", ".gif": "image/gif", ".html": "text/html", ".jpeg": "image/jpeg",
	".jpg": "image/jpeg", ".js": "text/javascript", ".json": "application/json", ".md": "text/markdown",
	".pdf": "application/pdf", ".png": "image/png", ".svg": "image/svg+xml", ".wasm": "application/wasm",
	".webp": "image/webp", ".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml",
}
