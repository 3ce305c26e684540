package main

import (
	"errors"
	"io/fs"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// A document is a file with a URI of its own, which has one of several names. It is listed only where there is one.
type document struct {
	entry wasmres.Entry
	names []string // the first that exists counts
}

var documents = []document{
	{
		entry: wasmres.Entry{
			URI: "project://readme", Name: "readme", Title: "Readme", Description: "What the project says of itself.",
			Priority: 1,
		},
		names: []string{"README.md", "README", "readme.md", "Readme.md", "README.txt", "README.rst"},
	},
	{
		entry: wasmres.Entry{
			URI: "project://license", Name: "license", Title: "License",
			Description: "The terms the project may be used under.",
		},
		names: []string{"LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE", "COPYING", "license"},
	},
}

// documentOf gives the document that a request is about.
func documentOf(r *wasmres.Request) (document, error) {
	for _, d := range documents {
		if d.entry.URI == r.URI {
			return d, nil
		}
	}
	return document{}, wasmres.NotFound("")
}

func readDocument(r *wasmres.Request) (wasmres.Content, error) {
	d, err := documentOf(r)
	if err != nil {
		return wasmres.Content{}, err
	}
	name, _, err := d.find()
	if err != nil {
		return wasmres.Content{}, err
	}
	return open(name)
}

func documentVersion(r *wasmres.Request) (string, error) {
	d, err := documentOf(r)
	if err != nil {
		return "", err
	}
	_, info, err := d.find()
	if errors.Is(err, wasmres.ErrNotFound) {
		return "", nil // it may be written yet
	}
	if err != nil {
		return "", err
	}
	return etag(info), nil
}

// find looks for the file of a document.
func (d document) find() (name string, info fs.FileInfo, err error) {
	for _, name := range d.names {
		info, err := fs.Stat(project, name)
		if errors.Is(err, fs.ErrPermission) {
			return "", nil, explain(name, err)
		}
		if err == nil && !info.IsDir() {
			return name, info, nil
		}
	}
	return "", nil, wasmres.NotFound("the project has no " + d.names[0])
}

// listed gives the entry of a document; false where there is none.
func (d document) listed() (e wasmres.Entry, there bool, err error) {
	name, info, err := d.find()
	if errors.Is(err, wasmres.ErrNotFound) {
		return e, false, nil
	}
	if err != nil {
		return e, false, err
	}
	e = d.entry
	e.MIME, e.Size, e.LastModified = typeOf(name), info.Size(), info.ModTime()
	return e, true, nil
}
