package wasmres_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

// folderProvider serves the folders of files.
func folderProvider(t *testing.T, files fs.FS) *wasmrestest.Provider {
	t.Helper()
	p := start(t, func() {
		wasmres.Template("t://{+path}/", func(r *wasmres.Request) (wasmres.Content, error) {
			return wasmres.Dir("/m").Folder(r.Var("path"), "t://", wasmres.FolderOptions{MaxFiles: 2})
		}).Ranges().Watch(time.Second, func(r *wasmres.Request) (string, error) {
			return wasmres.Dir("/m").FolderVersion(r.Var("path"), wasmres.FolderOptions{})
		})
	})
	p.Mounts = map[string]fs.FS{"/m": files}
	return p
}

func TestFolder(t *testing.T) {
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	files := fstest.MapFS{
		"d/a.txt": {Data: []byte("text"), ModTime: when}, "d/b.bin": {Data: []byte{0xff, 0}, ModTime: when},
		"d/sub/c.txt": {Data: []byte("below")}, "d/.hidden": {}, "top": {}, "e/sub/f": {},
	}
	p := folderProvider(t, files)
	want := func(uri string, want ...string) {
		t.Helper()
		contents, err := p.Read(uri)
		var got []string
		for _, c := range contents {
			got = append(got, strings.Join([]string{c.URI, c.MIME, string(c.Data), c.Meta}, " "))
		}
		if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: got %q, %v, want %q", uri, got, err, want)
		}
	}
	want("t://d/", "t://d/a.txt text/plain text ", "t://d/b.bin application/octet-stream \xff\x00 ")
	want("t://e/", `t://e/ text/plain No files. {"folder":{"files":0,"bytes":0}}`)
	want("t://d/sub/", "t://d/sub/c.txt text/plain below ")
	for _, uri := range []string{"t://missing/", "t://d/sub/c.txt/"} {
		if _, err := p.Read(uri); !errors.Is(err, wasmres.ErrNotFound) && !errors.Is(err, wasmres.ErrInvalid) {
			t.Errorf("%s: got %v", uri, err)
		}
	}
	files["d/c.txt"] = &fstest.MapFile{Data: []byte("one more"), ModTime: when}
	want("t://d/", "t://d/a.txt text/plain text ", "t://d/b.bin application/octet-stream \xff\x00 ",
		`t://d/ text/plain Files left out: 1 (8 bytes), among them "c.txt" {"folder":{"files":2,"bytes":6,"leftOut":{"files":1,`+
			`"bytes":8,"names":["c.txt"],"reasons":{"maxFiles":1}}}}`)
	answer, err := p.Do(wasmrestest.Request{URI: "t://d/", Range: wasmres.Range{Offset: 1, Length: 1}})
	if err != nil || len(answer.Contents) != 3 || len(answer.Contents[1].Data) != 2 || answer.Contents[1].RangeOf != 0 {
		t.Errorf("a part of a folder: got %+v, %v, want all of it", answer, err)
	}
}

func TestFolderVersion(t *testing.T) {
	files := fstest.MapFS{"d/a": {}}
	p := folderProvider(t, files)
	first, changed, err := p.Poll("t://d/", "")
	if first == "" || !changed || err != nil {
		t.Errorf("got %q, changed %v, %v", first, changed, err)
	}
	if again, changed, err := p.Poll("t://d/", first); again != first || changed || err != nil {
		t.Errorf("got %q, changed %v, %v, want %q again", again, changed, err, first)
	}
	files["d/a"] = &fstest.MapFile{ModTime: time.Now()}
	if now, changed, err := p.Poll("t://d/", first); now == first || !changed || err != nil {
		t.Errorf("after a change: got %q, changed %v, %v", now, changed, err)
	}
}
