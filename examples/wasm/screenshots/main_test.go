package main

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

const png = "\x89PNG\r\n\x1a\n"

// start runs the provider with pictures that are taken an hour after one another.
func start(t *testing.T, names ...string) *wasmrestest.Provider {
	folder := fstest.MapFS{}
	for i, name := range names {
		folder[name] = &fstest.MapFile{Data: []byte(png + name), ModTime: time.Date(2026, 11, 22, 8+i, 0, 0, 0, time.UTC)}
	}
	p := wasmrestest.New(t)
	p.Mounts = map[string]fs.FS{root: folder}
	return p
}

func TestNewestPicture(t *testing.T) {
	p := start(t, "display1-2.png", "display2.JPG", "display1-1.png", ".display1.png", "display1.txt", "a b.png", "folder.png/x")
	content, err := p.Read("screen://localhost/display1")
	if err != nil || len(content) != 1 {
		t.Fatalf("got %v, %v", content, err)
	}
	got := content[0]
	if string(got.Data) != png+"display1-1.png" || got.MIME != "image/png" || got.LastModified != "2026-11-22T10:00:00Z" || got.ETag == "" {
		t.Errorf("got %+v", got)
	}
	var listed []string
	for _, e := range p.List() {
		listed = append(listed, e.URI+" "+e.MIME)
	}
	want := []string{"screen://localhost/display1 image/png", "screen://localhost/display2 image/jpeg"}
	if !slices.Equal(listed, want) {
		t.Errorf("got %q", listed)
	}
	for _, name := range []string{"a%20b", "folder", ".display1", "display3", "../display1"} {
		if _, err := p.Read("screen://localhost/" + name); !errors.Is(err, wasmres.ErrNotFound) {
			t.Errorf("%s: got %v, want not found", name, err)
		}
	}
	if got, err := p.Complete(display, "display", "display2", nil); !slices.Equal(got, []string{"display2"}) || err != nil {
		t.Errorf("complete: got %v, %v", got, err)
	}
}

func TestDisplaysCanBeFollowed(t *testing.T) {
	const uri = "screen://localhost/display1"
	p := start(t, "display2.png")
	none, _, err := p.Poll(uri, "")
	if none != "" || err != nil {
		t.Errorf("got %q, %v", none, err)
	}
	p.Mounts = start(t, "display2.png", "display1-1.png").Mounts
	one, changed, err := p.Poll(uri, none)
	if !changed || err != nil {
		t.Errorf("got %q, changed %t, %v", one, changed, err)
	}
	p.Mounts = start(t, "display2.png", "display1-1.png", "display1-2.png").Mounts
	if two, changed, err := p.Poll(uri, one); !changed || err != nil {
		t.Errorf("got %q, changed %t, %v", two, changed, err)
	}
}

func TestNothingGranted(t *testing.T) {
	p := start(t)
	p.Mounts = nil
	if _, err := p.Read("screen://localhost/display1"); !errors.Is(err, wasmres.ErrDenied) || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("got %v", err)
	}
}
