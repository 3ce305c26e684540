package main

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// errFolder says that a path leads to a folder.
var errFolder = errors.New("this is a folder")

// folder answers with the files of a folder, each as a read of it alone does. The root is the empty path; others may have
// a slash at their end.
func (t tree) folder(path string) (wasmres.Content, error) {
	name := "."
	if path != "" {
		name = strings.TrimSuffix(path, "/")
		if err := t.check(name); err != nil {
			return wasmres.Content{}, err
		}
	}
	c, err := wasmres.Dir(t.root).Folder(name, scheme, wasmres.FolderOptions{
		Hidden: t.hidden,
		MIME:   func(name string, head []byte, _ bool) string { return typeOf(name, head) },
	})
	if errors.Is(err, fs.ErrInvalid) {
		return c, wasmres.Invalid(strconv.Quote(name) + " is a file: leave out the slash at the end")
	}
	return c, t.explain(name, err)
}
