package main

import (
	"bytes"
	"io/fs"
	"strings"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// serveFolders registers what answers with folders.
func serveFolders() {
	folder := func(o wasmres.FolderOptions) func(r *wasmres.Request) (wasmres.Content, error) {
		return func(r *wasmres.Request) (wasmres.Content, error) { return files.Folder(r.Var("name"), "kit://in/", o) }
	}
	wasmres.Template("kit://folder/{name}", folder(wasmres.FolderOptions{})).
		Watch(time.Second, func(r *wasmres.Request) (string, error) {
			return files.FolderVersion(r.Var("name"), wasmres.FolderOptions{})
		})
	wasmres.Template("kit://some/{name}", folder(wasmres.FolderOptions{
		MaxFiles: 3, MaxBytes: 1000, Hidden: true, MIME: typeOf,
	}))
}

// listFolder lists a folder as a directory.
func listFolder(r *wasmres.Request, page *wasmres.Page) error {
	entries, err := fs.ReadDir(files, r.Var("name"))
	if err != nil {
		return err
	}
	return page.Each(len(entries), func(i int) wasmres.Entry {
		e := wasmres.Entry{URI: r.URI + "/" + entries[i].Name()}
		if entries[i].IsDir() {
			e.MIME = wasmres.DirectoryType
		}
		return e
	})
}

func typeOf(name string, head []byte, text bool) string {
	switch {
	case text && strings.HasSuffix(name, ".kit"):
		return "text/x-kit"
	case bytes.HasPrefix(head, []byte("KIT")):
		return "image/x-kit"
	}
	return ""
}
