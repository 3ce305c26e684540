package main

import (
	"errors"
	"io/fs"
	"strconv"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// uriPrefix is what the URIs of files begin with.
const uriPrefix = "project://file/"

// errFolder says that a name is that of a folder.
var errFolder = wasmres.Invalid("this is a folder: project://file/ and its path have its files")

// checkFolder is check for the name of a folder.
func checkFolder(name string) error {
	if name == "." {
		return nil
	}
	return check(name)
}

// openFolder answers with the files of a folder, each as a read of it alone does.
func openFolder(name string) (wasmres.Content, error) {
	if err := checkFolder(name); err != nil {
		return wasmres.Content{}, err
	}
	c, err := project.Folder(name, uriPrefix, wasmres.FolderOptions{
		MIME: func(name string, _ []byte, text bool) string { return mimeOf(name, text) },
	})
	return c, explainFolder(name, err)
}

// folderVersion gives another etag when a file of a folder comes, goes or changes.
func folderVersion(name string) (string, error) {
	if err := checkFolder(name); err != nil {
		return "", err
	}
	etag, err := project.FolderVersion(name, wasmres.FolderOptions{})
	return etag, explainFolder(name, err)
}

func explainFolder(name string, err error) error {
	if errors.Is(err, fs.ErrInvalid) {
		return wasmres.Invalid(strconv.Quote(name) + " is a file: leave out the slash at the end")
	}
	return explain(name, err)
}
