package main

import (
	"encoding/json"
	"mime"
	"path"
	"strings"

	"github.com/wasmres/wasmres/examples/wasm/fetch"
	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// An entry is a file or a folder in a folder.
type entry struct {
	Name string `json:"name"`
	Path string `json:"path"`
	Type string `json:"type"` // file, dir, symlink or submodule
	Size int64  `json:"size"`
	URI  string `json:"uri"`
}

// read answers with a file, or with what is in a folder.
func read(r *wasmres.Request) (wasmres.Content, error) {
	resp, body, err := contents(r, r.Var("path"))
	if err != nil {
		return wasmres.Content{}, err
	}
	etag := fetch.ETag(resp, body)
	if !isFolder(resp) {
		c, isText := fetch.Content(body)
		return c.MIME(mimeOf(r.Var("path"), isText)).ETag(etag), nil
	}
	entries, err := decode[[]entry](body)
	if err != nil {
		return wasmres.Content{}, err
	}
	for i := range entries {
		entries[i].URI = uriOf(r.Var("owner"), branchOf(r), entries[i].Path)
	}
	text, err := json.Marshal(entries)
	return wasmres.Text(string(text)).MIME("application/json").ETag(etag), err
}

// isFolder reports whether an answer describes a folder: files are of the type that was asked for.
func isFolder(resp *wasmres.HTTPResponse) bool {
	return fetch.MIME(resp) == "application/json" || fetch.MIME(resp) == plain
}

// version names the version of a file.
func version(r *wasmres.Request) (string, error) {
	resp, body, err := contents(r, r.Var("path"))
	if err != nil {
		return "", err
	}
	return fetch.ETag(resp, body), nil
}

// mimeOf returns the media type of a file by its name: the API does not say.
func mimeOf(name string, isText bool) string {
	extension := strings.ToLower(path.Ext(name))
	if extension == ".md" {
		return "text/markdown"
	}
	if byName, _, _ := strings.Cut(mime.TypeByExtension(extension), ";"); byName != "" {
		return byName
	}
	if isText {
		return "text/plain"
	}
	return "application/octet-stream"
}
