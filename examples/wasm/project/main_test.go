package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

var when = time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)

// files is a project with a bit of everything.
func files() fstest.MapFS {
	m := fstest.MapFS{
		"README.md": {Data: []byte("# Project\n")}, "LICENSE": {Data: []byte("MIT\n")},
		"a.txt": {Data: []byte("text")}, "a/b.txt": {Data: []byte("below")}, "a/b/c.go": {Data: []byte("package c\n")},
		"a b&ü.txt": {Data: []byte("odd name")}, "empty": {}, "pic.png": {Data: []byte("\x89PNG\x00")},
		"zeros": {Data: []byte("a\x00b")}, "latin1": {Data: []byte("caf\xe9")}, "noext": {Data: []byte("plain")},
		".env": {Data: []byte("SECRET=1")}, ".git/config": {Data: []byte("x")}, "a/.hidden": {},
		"words.txt": {Data: []byte("one two\n three\tfour \n\nfive")},
		"big.txt":   {Data: bytes.Repeat([]byte("größe\n"), 60_000)},
		"big.bin":   {Data: append(bytes.Repeat([]byte("größe\n"), 60_000), 0xff)},
	}
	for _, f := range m {
		f.ModTime = when
	}
	return m
}

func start(t *testing.T) *wasmrestest.Provider {
	p := wasmrestest.New(t)
	p.Mounts = map[string]fs.FS{root: files()}
	return p
}

func TestRead(t *testing.T) {
	p := start(t)
	for _, c := range []struct {
		uri, mime string
		text      bool
		file      string
	}{
		{"project://readme", "text/markdown", true, "README.md"},
		{"project://license", "text/plain", true, "LICENSE"},
		{"project://file/README.md", "text/markdown", true, "README.md"},
		{"project://file/a.txt", "text/plain", true, "a.txt"},
		{"project://file/a/b.txt", "text/plain", true, "a/b.txt"},
		{"project://file/a/b/c.go", "text/x-go", true, "a/b/c.go"},
		{"project://file/a%20b%26%C3%BC.txt", "text/plain", true, "a b&ü.txt"},
		{"project://file/empty", "text/plain", true, "empty"},
		{"project://file/noext", "text/plain", true, "noext"},
		{"project://file/pic.png", "image/png", false, "pic.png"},
		{"project://file/zeros", "application/octet-stream", false, "zeros"},
		{"project://file/latin1", "application/octet-stream", false, "latin1"},
		{"project://file/big.txt", "text/plain", true, "big.txt"},
		{"project://file/big.bin", "application/octet-stream", false, "big.bin"},
	} {
		contents, err := p.Read(c.uri)
		if err != nil || len(contents) != 1 {
			t.Errorf("%s: got %d contents, %v", c.uri, len(contents), err)
			continue
		}
		got := contents[0]
		if got.MIME != c.mime || got.Text != c.text || got.LastModified != "2026-11-21T01:02:03Z" || got.ETag == "" {
			t.Errorf("%s: got %s, text %v, %s, etag %q", c.uri, got.MIME, got.Text, got.LastModified, got.ETag)
		}
		if !bytes.Equal(got.Data, files()[c.file].Data) {
			t.Errorf("%s: got %d bytes, want those of %s", c.uri, len(got.Data), c.file)
		}
	}
}

func TestRefused(t *testing.T) {
	p := start(t)
	for _, c := range []struct {
		uri   string
		class error
		text  string
	}{
		{"project://file/missing.txt", wasmres.ErrNotFound, `no file "missing.txt" in the project`},
		{"project://file/a/missing", wasmres.ErrNotFound, `no file "a/missing" in the project`},
		{"project://stats/missing.txt", wasmres.ErrNotFound, `no file "missing.txt" in the project`},
		{"project://stats/a", wasmres.ErrInvalid, "is a folder"},
		{"project://file/../secret", wasmres.ErrInvalid, "not a path inside the project"},
		{"project://file/a/../../secret", wasmres.ErrInvalid, "not a path"},
		{"project://file/%2e%2e/secret", wasmres.ErrInvalid, "not a path"},
		{"project://file/..%2Fsecret", wasmres.ErrInvalid, "not a path"},
		{"project://file/%2Fetc%2Fpasswd", wasmres.ErrInvalid, "not a path"},
		{"project://file//etc/passwd", wasmres.ErrInvalid, "not a path"},
		{"project://file/a%5C..%5Cb", wasmres.ErrInvalid, "not a path"},
		{"project://file/a%00", wasmres.ErrInvalid, "not a path"},
		{"project://stats/../secret", wasmres.ErrInvalid, "not a path"},
		{"project://file/.env", wasmres.ErrNotFound, `no file ".env"`},
		{"project://file/.git/config", wasmres.ErrNotFound, `no file ".git/config"`},
		{"project://file/a/.hidden", wasmres.ErrNotFound, "no file"},
	} {
		_, err := p.Read(c.uri)
		if !errors.Is(err, c.class) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v, want %v with %q", c.uri, err, c.class, c.text)
		}
	}
}

func TestNothingGranted(t *testing.T) {
	p := wasmrestest.New(t)
	if _, err := p.Read("project://file/a.txt"); !errors.Is(err, wasmres.ErrDenied) {
		t.Errorf("read: got %v, want denied", err)
	}
	if _, _, err := p.Page(""); !errors.Is(err, wasmres.ErrDenied) {
		t.Errorf("list: got %v, want denied", err)
	}
}

func TestNoReadme(t *testing.T) {
	p := wasmrestest.New(t)
	p.Mounts = map[string]fs.FS{root: fstest.MapFS{"README": {Data: []byte("plain")}}}
	if got := p.Text("project://readme"); got != "plain" {
		t.Errorf("got %q", got)
	}
	if _, err := p.Read("project://license"); !errors.Is(err, wasmres.ErrNotFound) || err.Error() != "the project has no LICENSE" {
		t.Errorf("got %v", err)
	}
}

func TestList(t *testing.T) {
	want := []string{
		"LICENSE", "README.md", "a/b/c.go", "a/b.txt", "a b&ü.txt", "a.txt", "big.bin", "big.txt", "empty", "latin1",
		"noext", "pic.png", "words.txt", "zeros",
	}
	for size := range len(want) + 2 {
		p := start(t)
		p.PageSize = size
		var got []string
		for _, e := range p.List()[2:] {
			got = append(got, e.Name)
			data := files()[e.Name].Data
			if e.Size != uint64(len(data)) || e.LastModified != "2026-11-21T01:02:03Z" {
				t.Errorf("%s: got %+v", e.Name, e)
			}
			contents, err := p.Read(e.URI)
			if err != nil || !bytes.Equal(contents[0].Data, data) || contents[0].MIME != e.MIME && e.Name != "big.bin" {
				t.Errorf("%s, %s, cannot be read: %v, or not as listed", e.URI, e.MIME, err)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("page size %d: got\n%q, want\n%q", size, got, want)
		}
	}
	p := start(t)
	for _, cursor := range []string{"../x", "///", ".git"} {
		if _, _, err := p.Page(cursor); !errors.Is(err, wasmres.ErrInvalid) {
			t.Errorf("cursor %q: got %v, want invalid", cursor, err)
		}
	}
}

// Readme and license are listed where there are any, with what is known of their files.
func TestDocuments(t *testing.T) {
	readme := &fstest.MapFile{Data: []byte("plain"), ModTime: when}
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"none":    {fstest.MapFS{"a.txt": {}, "LICENSE/x": {}}, ""},
		"readme":  {fstest.MapFS{"README": readme}, "project://readme text/plain 5 2026-11-21T01:02:03Z;"},
		"license": {fstest.MapFS{"COPYING": readme}, "project://license text/plain 5 2026-11-21T01:02:03Z;"},
		"both": {
			fstest.MapFS{"LICENSE.md": readme, "readme.md": readme},
			"project://readme text/markdown 5 2026-11-21T01:02:03Z;project://license text/markdown 5 2026-11-21T01:02:03Z;",
		},
	} {
		for size := range 4 {
			p := wasmrestest.New(t)
			p.Mounts, p.PageSize = map[string]fs.FS{root: c.files}, size
			got := ""
			for _, e := range p.List() {
				if !strings.HasPrefix(e.URI, "project://file/") {
					got += fmt.Sprintf("%s %s %d %s;", e.URI, e.MIME, e.Size, e.LastModified)
				}
			}
			if got != c.want {
				t.Errorf("%s: got %s, want %s", name, got, c.want)
			}
		}
	}
	p := start(t)
	if _, err := p.Read("project://secrets"); !errors.Is(err, wasmres.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestRealFolder(t *testing.T) {
	dir := t.TempDir()
	for i := range 40 {
		name := filepath.Join(dir, "sub", fmt.Sprint(i%7), fmt.Sprintf("%03d.md", i))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(fmt.Sprint(i)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := wasmrestest.New(t)
	p.Mounts = map[string]fs.FS{root: os.DirFS(dir)}
	p.PageSize = 3
	if got := len(p.List()); got != 40 {
		t.Errorf("got %d entries, want 40", got)
	}
	if got := p.Text("project://file/sub/3/003.md"); got != "3" {
		t.Errorf("got %q", got)
	}
}

func TestStats(t *testing.T) {
	p := start(t)
	for name, want := range map[string]string{
		"words.txt": `{"lines":4,"words":5,"bytes":26,"modified":"2026-11-21T01:02:03Z"}`,
		"empty":     `{"lines":0,"words":0,"bytes":0,"modified":"2026-11-21T01:02:03Z"}`,
		"README.md": `{"lines":1,"words":2,"bytes":10,"modified":"2026-11-21T01:02:03Z"}`,
		"a/b/c.go":  `{"lines":1,"words":2,"bytes":10,"modified":"2026-11-21T01:02:03Z"}`,
		"big.txt":   `{"lines":60000,"words":60000,"bytes":480000,"modified":"2026-11-21T01:02:03Z"}`,
	} {
		if got := p.Text("project://stats/" + name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestComplete(t *testing.T) {
	p := start(t)
	for _, c := range []struct {
		template, variable, prefix string
		want                       []string
	}{
		{"project://file/{filename}", "filename", "b", []string{"big.bin", "big.txt"}},
		{"project://file/{filename}", "filename", ".", nil},
		{"project://stats/{filename}", "filename", "a", []string{"a b&ü.txt", "a.txt"}},
		{"project://file/{+path}", "path", "a", []string{"a/", "a b&ü.txt", "a.txt"}},
		{"project://file/{+path}", "path", "a/", []string{"a/b/", "a/b.txt"}},
		{"project://file/{+path}", "path", "a/b/c", []string{"a/b/c.go"}},
		{"project://stats/{+path}", "path", "../", nil},
		{"project://file/{+path}", "path", "nowhere/x", nil},
		{"project://file/{+path}", "path", "a.txt/", nil},
	} {
		got, err := p.Complete(c.template, c.variable, c.prefix, nil)
		slices.Sort(got)
		want := slices.Sorted(slices.Values(c.want))
		if !slices.Equal(got, want) || err != nil {
			t.Errorf("%s %q: got %q, %v, want %q", c.template, c.prefix, got, err, want)
		}
	}
}

func TestWatch(t *testing.T) {
	p := start(t)
	m := p.Mounts[root].(fstest.MapFS)
	for uri, name := range map[string]string{"project://readme": "README.md", "project://file/a.txt": "a.txt", "project://file/a/b.txt": "a/b.txt"} {
		every, err := p.Subscribe(uri)
		if every != watchEvery || err != nil {
			t.Errorf("%s: subscribe: got %v, %v", uri, every, err)
		}
		before, _, err := p.Poll(uri, "")
		if err != nil {
			t.Errorf("%s: poll: %v", uri, err)
		}
		if _, changed, err := p.Poll(uri, before); changed || err != nil {
			t.Errorf("%s: poll: changed %v, %v", uri, changed, err)
		}
		m[name].ModTime = when.Add(time.Second)
		if _, changed, err := p.Poll(uri, before); !changed || err != nil {
			t.Errorf("%s: poll after a change: changed %v, %v", uri, changed, err)
		}
	}
}

func TestTextualStream(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "plain": true, "größe 日本語 🙂": true, "cut \xe6\x97": false, "\xff": false, "a\x00": false,
	} {
		if got, err := textualStream(iotest.OneByteReader(strings.NewReader(text))); got != want || err != nil {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	if _, err := textualStream(iotest.ErrReader(fs.ErrPermission)); err != fs.ErrPermission {
		t.Errorf("got %v", err)
	}
}
