package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

// What a folder answers of a file is what a read of the file answers.
func TestFolders(t *testing.T) {
	m := files()
	delete(m, "big.txt")
	delete(m, "big.bin")
	for _, c := range []struct {
		uri  string
		want []string
	}{
		{"file:///docs/b/", []string{"docs/b/c.go"}}, {"file:///docs/b", []string{"docs/b/c.go"}},
		{"file:///docs/", []string{"docs/a.md"}},
		{"file:///", []string{
			"README.md", "a%20b%26%C3%BC%25.txt", "data.unknown", "docs.txt", "drawing.svg", "empty", "latin1.txt", "picture",
			"picture.png", "plain", "script", "text.png", "zeros.txt",
		}},
	} {
		p := start(t, m)
		contents, err := p.Read(c.uri)
		if err != nil {
			t.Errorf("%s: %v", c.uri, err)
		}
		var got []string
		for _, content := range contents {
			if content.URI == c.uri { // names that no URI can have
				if !strings.Contains(content.Meta, `"reasons":{"name":2}`) || c.uri != scheme {
					t.Errorf("%s: got %+v", c.uri, content)
				}
				continue
			}
			got = append(got, strings.TrimPrefix(content.URI, scheme))
			alone, err := p.Read(content.URI)
			if err != nil || len(alone) != 1 {
				t.Fatalf("%s: got %+v, %v", content.URI, alone, err)
			}
			one := alone[0]
			if one.MIME != content.MIME || one.Text != content.Text || one.ETag != content.ETag ||
				one.LastModified != content.LastModified || !bytes.Equal(one.Data, content.Data) {
				t.Errorf("%s: got %+v in the folder, %+v alone", content.URI, content, one)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.uri, got, c.want)
		}
	}
}

func TestFoldersAreBounded(t *testing.T) {
	m := fstest.MapFS{"large/a": {Data: make([]byte, 1<<20)}, "large/b": {Data: []byte("b")}, "large/.c": {}}
	for i := range 101 {
		m[fmt.Sprintf("many/%03d", i)] = &fstest.MapFile{}
	}
	p := start(t, m)
	for uri, c := range map[string]struct {
		n    int
		left string
	}{
		"file:///many/":  {100, `"leftOut":{"files":1,"bytes":0,"names":["100"],"reasons":{"maxFiles":1}}`},
		"file:///large/": {1, `"leftOut":{"files":1,"bytes":1,"names":["b"],"reasons":{"maxBytes":1}}`},
	} {
		contents, err := p.Read(uri)
		if err != nil || len(contents) != c.n+1 || !strings.Contains(contents[c.n].Meta, c.left) {
			t.Errorf("%s: got %d contents, %v, want %d files and %s", uri, len(contents), err, c.n, c.left)
		}
	}
	p.Config = map[string]string{"hidden": "true"}
	if contents, err := p.Read("file:///large/"); err != nil || contents[0].URI != "file:///large/.c" {
		t.Errorf("with hidden files: got %+v, %v", contents, err)
	}
}

func TestFoldersThatAreNotGranted(t *testing.T) {
	p := wasmrestest.New(t)
	if _, err := p.Read("file:///docs/"); !errors.Is(err, wasmres.ErrDenied) || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("got %v, want denied", err)
	}
	p.Mounts = map[string]fs.FS{"/files": files()}
	for uri, want := range map[string]error{
		"file:///.git/": wasmres.ErrNotFound, "file:///docs/missing/": wasmres.ErrNotFound, "file:////": wasmres.ErrInvalid,
		"file:///docs//": wasmres.ErrInvalid, "file:///docs/../": wasmres.ErrInvalid, "file:///README.md/": wasmres.ErrInvalid,
	} {
		if _, err := p.Read(uri); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", uri, err, want)
		}
	}
}
