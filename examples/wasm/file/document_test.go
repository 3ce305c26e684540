package main

import (
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

// Documents are listed and read where there is a file of one of their names.
func TestDocuments(t *testing.T) {
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  map[string]string
	}{
		"none": {fstest.MapFS{"other": {}, "docs/README.md": {}}, nil},
		"all": {fstest.MapFS{
			"README.md": {Data: []byte("readme")}, "config.yaml": {Data: []byte("config")}, "CHANGELOG.md": {Data: []byte("log")},
		}, map[string]string{"file://readme": "readme", "file://config": "config", "file://changelog": "log"}},
		"others": {fstest.MapFS{
			"README": {Data: []byte("plain")}, "config.toml": {Data: []byte("toml")}, "config.json": {Data: []byte("json")},
			"CHANGES.md/x": {},
		}, map[string]string{"file://readme": "plain", "file://config": "json"}},
	} {
		for size := range 5 {
			p := start(t, c.files)
			p.PageSize = size
			var got []string
			for _, e := range p.List() {
				if strings.HasPrefix(e.URI, scheme) {
					continue
				}
				got = append(got, e.URI)
				if text := p.Text(e.URI); text != c.want[e.URI] || e.Size != uint64(len(text)) || e.Title == "" {
					t.Errorf("%s: %s: read %q, listed %+v", name, e.URI, text, e)
				}
			}
			want := slices.DeleteFunc([]string{"file://readme", "file://config", "file://changelog"}, func(uri string) bool {
				return c.want[uri] == ""
			})
			if !slices.Equal(got, want) {
				t.Errorf("%s, pages of %d: got %q, want %q", name, size, got, want)
			}
		}
	}
	large := fstest.MapFS{"README": {Data: []byte("plain")}}
	for i := range batch {
		large[fmt.Sprintf("A%03d", i)] = &fstest.MapFile{}
	}
	p := start(t, large)
	if p.Text("file://readme") != "plain" || p.List()[0].URI != "file://readme" {
		t.Error("file://readme is not found among many files")
	}
	p = start(t, fstest.MapFS{})
	for _, uri := range []string{"file://readme", "file://config", "file://changelog", "file://other", "file://readme/"} {
		if _, err := p.Read(uri); !errors.Is(err, wasmres.ErrNotFound) {
			t.Errorf("%s: got %v, want not found", uri, err)
		}
	}
	p = wasmrestest.New(t)
	p.Mounts = map[string]fs.FS{"/files/docs": fstest.MapFS{"a.md": {}}}
	if entries := p.List(); len(entries) != 1 || entries[0].URI != "file:///docs/a.md" {
		t.Errorf("only a folder is granted: got %+v", entries)
	}
	if _, err := p.Read("file://readme"); !errors.Is(err, wasmres.ErrDenied) && !errors.Is(err, wasmres.ErrNotFound) {
		t.Errorf("only a folder is granted: got %v", err)
	}
}
