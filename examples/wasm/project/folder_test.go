package main

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// What a folder answers of a file is what a read of the file answers.
func TestFolders(t *testing.T) {
	p := start(t)
	for _, c := range []struct {
		uri  string
		want []string
	}{
		{"project://file/a", []string{"a/b.txt"}}, {"project://file/a/", []string{"a/b.txt"}},
		{"project://file/a/b", []string{"a/b/c.go"}}, {"project://file/a/b/", []string{"a/b/c.go"}},
		{"project://file/", []string{
			"LICENSE", "README.md", "a%20b%26%C3%BC.txt", "a.txt", "big.bin", "big.txt", "empty", "latin1", "noext", "pic.png",
			"words.txt", "zeros",
		}},
	} {
		contents, err := p.Read(c.uri)
		if err != nil {
			t.Errorf("%s: %v", c.uri, err)
		}
		var got []string
		for _, content := range contents {
			got = append(got, strings.TrimPrefix(content.URI, uriPrefix))
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
	for uri, want := range map[string]error{
		"project://file/.git/": wasmres.ErrNotFound, "project://file/none/": wasmres.ErrNotFound,
		"project://file/a.txt/": wasmres.ErrInvalid, "project://file/a/../": wasmres.ErrInvalid,
		"project://stats/a": wasmres.ErrInvalid,
	} {
		if _, err := p.Read(uri); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", uri, err, want)
		}
	}
}

func TestFoldersAreWatched(t *testing.T) {
	for _, uri := range []string{"project://file/", "project://file/a", "project://file/a/", "project://file/a/b/"} {
		p := start(t)
		m := p.Mounts[root].(fstest.MapFS)
		first, _, err := p.Poll(uri, "")
		if err != nil || first == "" {
			t.Errorf("%s: got %q, %v", uri, first, err)
		}
		if again, changed, err := p.Poll(uri, first); changed || err != nil {
			t.Errorf("%s: unchanged, got %q, %v", uri, again, err)
		}
		m["new.txt"], m["a/new.txt"], m["a/b/new.txt"] = &fstest.MapFile{}, &fstest.MapFile{}, &fstest.MapFile{}
		if now, changed, err := p.Poll(uri, first); !changed || err != nil {
			t.Errorf("%s: with a new file, got %q, %v", uri, now, err)
		}
	}
	p := start(t)
	p.Mounts = map[string]fs.FS{}
	if _, _, err := p.Poll("project://file/a/", ""); !errors.Is(err, wasmres.ErrDenied) {
		t.Errorf("nothing granted: got %v", err)
	}
}
