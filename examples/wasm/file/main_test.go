package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

var when = time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC)

const png = "\x89PNG\r\n\x1a\n\x00"

// files has a bit of everything.
func files() fstest.MapFS {
	m := fstest.MapFS{
		"README.md": {Data: []byte("# Files\n")}, "docs.txt": {Data: []byte("beside")},
		"docs/a.md": {Data: []byte("below")}, "docs/b/c.go": {Data: []byte("package c\n")}, "docs/b/": {Mode: fs.ModeDir},
		"a b&ü%.txt": {Data: []byte("odd name")}, "empty": {}, "plain": {Data: []byte("größe")},
		"picture": {Data: []byte(png)}, "picture.png": {Data: []byte(png)}, "text.png": {Data: []byte("text")},
		"zeros.txt": {Data: []byte("a\x00b")}, "latin1.txt": {Data: []byte("caf\xe9")},
		"script":      {Data: []byte("#!/bin/sh\n")},
		"drawing.svg": {Data: []byte("<svg/>")}, "data.unknown": {Data: []byte("\x01\xff")},
		"big.txt": {Data: bytes.Repeat([]byte("größe\n"), 60_000)},
		"big.bin": {Data: append(bytes.Repeat([]byte("größe\n"), 60_000), 0xff)},
		".env":    {Data: []byte("SECRET=1")}, ".git/config": {Data: []byte("x")}, "docs/.hidden": {},
		"back\\slash": {}, "new\nline": {},
	}
	for _, f := range m {
		f.ModTime = when
	}
	return m
}

func start(t *testing.T, m fs.FS) *wasmrestest.Provider {
	p := wasmrestest.New(t)
	p.Mounts = map[string]fs.FS{"/files": m}
	return p
}

func TestRead(t *testing.T) {
	p := start(t, files())
	for _, c := range []struct {
		uri, file, mime string
		text            bool
	}{
		{"file:///README.md", "README.md", "text/markdown", true},
		{"file:///docs/a.md", "docs/a.md", "text/markdown", true},
		{"file:///docs/b/c.go", "docs/b/c.go", "text/x-go", true},
		{"file:///a%20b%26%C3%BC%25.txt", "a b&ü%.txt", "text/plain", true},
		{"file:///empty", "empty", "text/plain", true},
		{"file:///plain", "plain", "text/plain", true},
		{"file:///picture", "picture", "image/png", false},
		{"file:///picture.png", "picture.png", "image/png", false},
		{"file:///text.png", "text.png", "image/png", false},
		{"file:///zeros.txt", "zeros.txt", "text/plain", false},
		{"file:///latin1.txt", "latin1.txt", "text/plain", false},
		{"file:///script", "script", "text/x-shellscript", true},
		{"file:///drawing.svg", "drawing.svg", "image/svg+xml", true},
		{"file:///data.unknown", "data.unknown", "application/octet-stream", false},
		{"file:///big.txt", "big.txt", "text/plain", true},
		{"file:///big.bin", "big.bin", "application/octet-stream", false},
	} {
		contents, err := p.Read(c.uri)
		if err != nil || len(contents) != 1 {
			t.Errorf("%s: got %d contents, %v", c.uri, len(contents), err)
			continue
		}
		got := contents[0]
		if got.MIME != c.mime || got.Text != c.text || got.LastModified != "2026-11-22T01:02:03Z" || got.ETag == "" {
			t.Errorf("%s: got %s, text %t, %s, etag %q", c.uri, got.MIME, got.Text, got.LastModified, got.ETag)
		}
		if !bytes.Equal(got.Data, files()[c.file].Data) {
			t.Errorf("%s: got %d bytes, want those of %s", c.uri, len(got.Data), c.file)
		}
	}
}

func TestRefused(t *testing.T) {
	p := start(t, files())
	for _, c := range []struct {
		uri   string
		class error
		text  string
	}{
		{"file:///missing.txt", wasmres.ErrNotFound, `no file "missing.txt"`},
		{"file:///docs/missing", wasmres.ErrNotFound, `no file "docs/missing"`},
		{"file:///README.md/x", wasmres.ErrNotFound, "no file"},
		{"file:///README.md/", wasmres.ErrInvalid, "is a file"}, {"file:///.git/", wasmres.ErrNotFound, "no file"},
		{"file:///.", wasmres.ErrInvalid, "not the path"},
		{"file:///../secret", wasmres.ErrInvalid, "not the path"},
		{"file:///docs/../../secret", wasmres.ErrInvalid, "not the path"},
		{"file:///%2e%2e/secret", wasmres.ErrInvalid, "not the path"},
		{"file:///..%2Fsecret", wasmres.ErrInvalid, "not the path"},
		{"file:////etc/passwd", wasmres.ErrInvalid, "not the path"},
		{"file:///%2Fetc%2Fpasswd", wasmres.ErrInvalid, "not the path"},
		{"file:///docs%5C..%5Cx", wasmres.ErrInvalid, "not the path"},
		{"file:///docs%00", wasmres.ErrInvalid, "not the path"},
		{"file:///.env", wasmres.ErrNotFound, `no file ".env"`},
		{"file:///.git/config", wasmres.ErrNotFound, "no file"},
		{"file:///docs/.hidden", wasmres.ErrNotFound, "no file"},
		{"file://elsewhere/README.md", wasmres.ErrNotFound, ""},
	} {
		_, err := p.Read(c.uri)
		if !errors.Is(err, c.class) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v, want %v with %q", c.uri, err, c.class, c.text)
		}
	}
}

func TestConfiguration(t *testing.T) {
	p := wasmrestest.New(t)
	p.Mounts = map[string]fs.FS{"/notes/new": files()}
	for _, c := range []struct {
		root, hidden, uri string
		want              error
	}{
		{"/notes/new", "", "file:///README.md", nil}, {"/notes/new/", "", "file:///docs/a.md", nil},
		{"/notes/new/docs", "", "file:///a.md", nil}, {"", "", "file:///README.md", wasmres.ErrDenied},
		{"/notes/new", "true", "file:///.git/config", nil}, {"/notes/new", "no", "file:///.git/config", wasmres.ErrNotFound},
		{"/notes/new/docs", "true", "file:///.hidden", nil},
	} {
		p.Config = map[string]string{"hidden": c.hidden}
		if c.root != "" {
			p.Config["root"] = c.root
		}
		if _, err := p.Read(c.uri); !errors.Is(err, c.want) {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}

// The operator granted folders below the root only.
func TestSubfoldersGranted(t *testing.T) {
	p := wasmrestest.New(t)
	p.Mounts = map[string]fs.FS{
		"/files/docs": fstest.MapFS{"a.md": {Data: []byte("a")}}, "/files/src/lib": fstest.MapFS{"b.go": {Data: []byte("b")}},
	}
	var got []string
	for _, e := range p.List() {
		got = append(got, e.URI)
	}
	if want := []string{"file:///docs/a.md", "file:///src/lib/b.go"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := p.Text("file:///src/lib/b.go"); got != "b" {
		t.Errorf("got %q", got)
	}
	if found, err := p.Complete(scheme+"{+path}", "path", "s", nil); !slices.Equal(found, []string{"src/"}) || err != nil {
		t.Errorf("completed: got %q, %v", found, err)
	}
}

// Of files of /proc, size 0 is told.
func TestSizelessFile(t *testing.T) {
	p := start(t, sizelessFS{"loadavg": "0.00 0.01 0.05 1/100 1234\n", "large.txt": strings.Repeat("größe\n", 60_000), "none": ""})
	for name, want := range p.Mounts["/files"].(sizelessFS) {
		if got := p.Text(scheme + name); got != want {
			t.Errorf("%s: got %d bytes, want %d", name, len(got), len(want))
		}
		a, err := p.Do(wasmrestest.Request{URI: scheme + name, Range: wasmres.Range{Offset: 1, Length: 1}})
		if part := want[min(1, len(want)):min(2, len(want))]; err != nil || string(a.Contents[0].Data) != part {
			t.Errorf("a part of %s: got %+v, %v, want %q", name, a.Contents, err, part)
		}
	}
}

// A sizelessFS has files whose size is told as 0.
type sizelessFS map[string]string

func (s sizelessFS) Open(name string) (fs.File, error) {
	text, ok := s[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return &sizeless{strings.NewReader(text)}, nil
}

type sizeless struct{ *strings.Reader }

func (s *sizeless) Stat() (fs.FileInfo, error) { return sizelessInfo{}, nil }
func (s *sizeless) Close() error               { return nil }

type sizelessInfo struct{ hugeInfo }

func (sizelessInfo) Size() int64 { return 0 }

func TestNothingGranted(t *testing.T) {
	p := wasmrestest.New(t)
	_, read := p.Read("file:///README.md")
	_, _, listed := p.Page("")
	_, completed := p.Complete(scheme+"{+path}", "path", "", nil)
	for _, err := range []error{read, listed, completed} {
		if !errors.Is(err, wasmres.ErrDenied) || !strings.Contains(err.Error(), "--dir FOLDER:/files") {
			t.Errorf("got %v, want denied", err)
		}
	}
}

func TestRanges(t *testing.T) {
	p := start(t, files())
	for _, name := range []string{"big.bin", "big.txt", "docs.txt"} {
		data := files()[name].Data
		size := uint64(len(data))
		for _, r := range []wasmres.Range{
			{Length: 1}, {Offset: 1, Length: 2}, {Offset: 8000, Length: 100_000},
			{Offset: size - 1}, {Offset: size - 1, Length: 10},
			{Offset: size, Length: 1}, {Offset: 1 << 63, Length: 1 << 63}, {Length: 1 << 63},
		} {
			if name == "big.txt" {
				r.Offset -= r.Offset % 8 // where a line begins: a cut character would be no text
				r.Length -= r.Length % 8
			}
			start := min(r.Offset, size)
			want := data[start:]
			if r.Length > 0 {
				want = want[:min(r.Length, size-start)]
			}
			a, err := p.Do(wasmrestest.Request{URI: scheme + name, Range: r})
			if err != nil {
				t.Errorf("%s, %+v: %v", name, r, err)
				continue
			}
			c := a.Contents[0]
			if r != (wasmres.Range{}) && c.RangeOf != size || c.Text != strings.HasSuffix(name, "txt") {
				t.Errorf("%s, %+v: got a range of %d, text %t", name, r, c.RangeOf, c.Text)
			}
			if !bytes.Equal(c.Data, want) {
				t.Errorf("%s, %+v: got %d bytes, want %d", name, r, len(c.Data), len(want))
			}
		}
	}
}

func TestNotModified(t *testing.T) {
	m := files()
	p := start(t, m)
	read := func(etag string) wasmrestest.Content {
		t.Helper()
		a, err := p.Do(wasmrestest.Request{URI: "file:///README.md", IfNoneMatch: etag})
		if err != nil {
			t.Fatal(err)
		}
		return a.Contents[0]
	}
	first := read("")
	if again := read(first.ETag); !again.NotModified || again.ETag != first.ETag || len(again.Data) > 0 {
		t.Errorf("got %+v", again)
	}
	m["README.md"].ModTime = when.Add(time.Millisecond)
	later := read(first.ETag)
	m["README.md"].Data = []byte("# More files\n")
	larger := read(later.ETag)
	if later.NotModified || larger.NotModified || later.ETag == first.ETag || larger.ETag == later.ETag {
		t.Errorf("got %+v, then %+v", later, larger)
	}
}

// A huge file is neither held in memory nor looked at where nobody asked.
func TestHugeFile(t *testing.T) {
	f := &huge{at: -1}
	p := start(t, hugeFS{f})
	for _, offset := range []uint64{0, 1 << 39, hugeSize - 100} {
		f.read = 0
		a, err := p.Do(wasmrestest.Request{URI: "file:///huge.log", Range: wasmres.Range{Offset: offset, Length: 100_000}})
		if err != nil {
			t.Fatal(err)
		}
		c := a.Contents[0]
		want := min(100_000, hugeSize-offset)
		if uint64(len(c.Data)) != want || c.Text || c.MIME != "text/plain" || c.RangeOf != hugeSize {
			t.Errorf("from %d: got %d bytes, %s, text %t, of %d", offset, len(c.Data), c.MIME, c.Text, c.RangeOf)
		}
		if f.read > 300_000 {
			t.Errorf("from %d: %d bytes were read", offset, f.read)
		}
	}
}

const hugeSize = 1 << 40

// A hugeFS has one file of zeros.
type hugeFS struct{ file *huge }

func (h hugeFS) Open(name string) (fs.File, error) {
	if name != "huge.log" {
		return nil, fs.ErrNotExist
	}
	return h.file, nil
}

type huge struct{ at, read int64 }

func (h *huge) Stat() (fs.FileInfo, error) { return hugeInfo{}, nil }
func (h *huge) Close() error               { return nil }

func (h *huge) Read(p []byte) (int, error) {
	n := min(int64(len(p)), hugeSize-h.at)
	h.at, h.read = h.at+n, h.read+n
	if n == 0 {
		return 0, io.EOF
	}
	return int(n), nil
}

func (h *huge) Seek(offset int64, _ int) (int64, error) {
	h.at = offset
	return offset, nil
}

type hugeInfo struct{ fs.FileInfo }

func (hugeInfo) Name() string       { return "huge.log" }
func (hugeInfo) Size() int64        { return hugeSize }
func (hugeInfo) Mode() fs.FileMode  { return 0o444 }
func (hugeInfo) ModTime() time.Time { return when }
func (hugeInfo) IsDir() bool        { return false }

func TestList(t *testing.T) {
	plain := []string{
		"README.md", "a b&ü%.txt", "big.bin", "big.txt", "data.unknown", "docs/a.md", "docs/b/c.go", "docs.txt",
		"drawing.svg", "empty", "latin1.txt", "picture", "picture.png", "plain", "script", "text.png", "zeros.txt",
	}
	hidden := slices.Concat([]string{".env", ".git/config"}, plain[:5], []string{"docs/.hidden"}, plain[5:])
	for config, want := range map[string][]string{"": plain, "true": hidden} {
		for size := range len(want) + 2 {
			p := start(t, files())
			p.PageSize = size
			p.Config = map[string]string{"hidden": config}
			var got []string
			for _, e := range p.List() {
				if !strings.HasPrefix(e.URI, scheme) {
					continue // TestDocuments has them
				}
				path, err := url.PathUnescape(strings.TrimPrefix(e.URI, scheme))
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, path)
				mime, _ := promised(path)
				if e.Name != e.URI[strings.LastIndexByte(e.URI, '/')+1:] && e.Name != "a b&ü%.txt" || e.MIME != mime ||
					e.Size != uint64(len(files()[path].Data)) || e.LastModified != "2026-11-22T01:02:03Z" {
					t.Errorf("%s: got %+v", path, e)
				}
				if _, err := p.Read(e.URI); err != nil {
					t.Errorf("%s is listed and cannot be read: %v", e.URI, err)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("hidden %q, pages of %d: got\n%q, want\n%q", config, size, got, want)
			}
		}
	}
	p := start(t, files())
	for _, cursor := range []string{"../x", "////", "/a", "a//b", "docs/"} {
		if _, _, err := p.Page(cursor); !errors.Is(err, wasmres.ErrInvalid) {
			t.Errorf("cursor %q: got %v, want invalid", cursor, err)
		}
	}
	for _, cursor := range []string{"gone", "gone/for/good", "docs.txt/x", "docs/b"} { // what was there when it was given
		if _, _, err := p.Page(cursor); err != nil {
			t.Errorf("cursor %q: got %v", cursor, err)
		}
	}
}

// What comes while pages are asked for is met if its place is still to come, and nothing is met twice.
func TestListWhileFilesCome(t *testing.T) {
	m := files()
	p := start(t, m)
	p.PageSize = 7 // with a document
	first, cursor, err := p.Page("")
	if err != nil || cursor != "docs/a.md" {
		t.Fatalf("got %d entries, the cursor %q, %v", len(first), cursor, err)
	}
	delete(m, "docs/a.md")
	m["docs/aa/new"], m["docs/Z"], m["a"] = &fstest.MapFile{}, &fstest.MapFile{}, &fstest.MapFile{}
	second, _, err := p.Page(cursor)
	if err != nil || second[0].URI != "file:///docs/aa/new" || second[1].URI != "file:///docs/b/c.go" {
		t.Errorf("got %+v, %v", second, err)
	}
}

// However many folders have nothing to list, a page looks into some of them only.
func TestListOfFolders(t *testing.T) {
	m := fstest.MapFS{"z/last": {}}
	for i := range 3 * foldersMax {
		m[fmt.Sprintf("a/%04d/.hidden", i)] = &fstest.MapFile{}
	}
	m[strings.Repeat("d/", depthMax)+"deepest"] = &fstest.MapFile{}
	m[strings.Repeat("d/", depthMax+1)+"too deep"] = &fstest.MapFile{}
	p := start(t, m)
	pages, cursor := 0, ""
	var got []string
	for pages == 0 || cursor != "" {
		entries, next, err := p.Page(cursor)
		if err != nil || pages > 20 || next != "" && next <= cursor {
			t.Fatalf("page %d: got the cursor %q, %v", pages, next, err)
		}
		for _, e := range entries {
			got = append(got, e.Name)
		}
		pages, cursor = pages+1, next
	}
	if want := []string{"deepest", "last"}; !slices.Equal(got, want) || pages < 4 {
		t.Errorf("got %q, want %q, and %d pages", got, want, pages)
	}
}

func TestListOfManyFiles(t *testing.T) {
	m := fstest.MapFS{}
	for i := range 1500 {
		m[fmt.Sprintf("many/%04d", i)] = &fstest.MapFile{}
	}
	p := start(t, m)
	p.PageSize = 400
	for i, e := range p.List() {
		if e.Name != fmt.Sprintf("%04d", i) {
			t.Fatalf("entry %d is %s", i, e.URI)
		}
	}
}

func TestComplete(t *testing.T) {
	m := files()
	for i := range 400 {
		m[fmt.Sprintf("many/.%03d", i)], m[fmt.Sprintf("many/%03d", i)] = &fstest.MapFile{}, &fstest.MapFile{}
	}
	p := start(t, m)
	for typed, want := range map[string][]string{
		"b": {"big.bin", "big.txt"}, "doc": {"docs/", "docs.txt"}, "docs": {"docs/", "docs.txt"},
		"docs/": {"docs/a.md", "docs/b/"}, "docs/b/c": {"docs/b/c.go"}, "docs/b/c.go": {"docs/b/c.go"},
		"many/39": {
			"many/390", "many/391", "many/392", "many/393", "many/394",
			"many/395", "many/396", "many/397", "many/398", "many/399",
		},
		"docs/b/c.go/": nil, ".": nil, "..": nil, "../": nil, "./": nil, "/": nil, "nowhere/x": nil, "B": nil,
	} {
		got, err := p.Complete(scheme+"{+path}", "path", typed, nil)
		if !slices.Equal(got, want) || err != nil {
			t.Errorf("%q: got %q, %v, want %q", typed, got, err, want)
		}
	}
	got, err := p.Complete(scheme+"{+path}", "path", "many/", nil)
	if len(got) != suggestions || got[99] != "many/099" || err != nil {
		t.Errorf("got %d values, %v", len(got), err)
	}
}

func TestIsText(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "plain": true, "größe 日本語 🙂": true,
		"cut \xe6\x97": false, "\xff": false, "a\x00": false, "\xf0\x9f\x99x": false,
	} {
		if got, err := isText(iotest.OneByteReader(strings.NewReader(text))); got != want || err != nil {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	if _, err := isText(iotest.ErrReader(fs.ErrPermission)); err != fs.ErrPermission {
		t.Errorf("got %v", err)
	}
}
