package wasmres_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// within runs f as a handler, with files mounted at /m.
func within(t *testing.T, files fs.FS, f func(dir fs.FS) error) error {
	t.Helper()
	p := start(t, func() {
		wasmres.Resource("t://run", func(*wasmres.Request) (string, error) { return "", f(wasmres.Dir("/m")) })
	})
	p.Mounts = map[string]fs.FS{"/m": files}
	_, err := p.Read("t://run")
	return err
}

func TestDirIsAnFS(t *testing.T) {
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	files := fstest.MapFS{
		"README.md":    {Data: []byte("# readme"), ModTime: when},
		"empty":        {ModTime: when},
		"big":          {Data: bytes.Repeat([]byte("0123456789"), 7<<10), ModTime: when},
		"a/b/deep.txt": {Data: []byte("deep"), ModTime: when},
	}
	for i := range 300 {
		files[fmt.Sprintf("many/%03d", i)] = &fstest.MapFile{ModTime: when}
	}
	err := within(t, files, func(dir fs.FS) error {
		if err := fstest.TestFS(dir, "README.md", "empty", "big", "a/b/deep.txt", "many/299"); err != nil {
			t.Error(err)
		}
		sub, err := fs.Sub(dir, "a/b")
		if err != nil {
			t.Error(err)
		}
		if b, err := fs.ReadFile(sub, "deep.txt"); string(b) != "deep" || err != nil {
			t.Errorf("got %q, %v", b, err)
		}
		info, err := fs.Stat(dir, "README.md")
		if err != nil || info.Size() != 8 || !info.ModTime().Equal(when) || info.IsDir() {
			t.Errorf("got %v, %v", info, err)
		}
		if all, err := fs.ReadDir(dir, "many"); len(all) != 300 || err != nil {
			t.Errorf("got %d entries, %v", len(all), err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestReadDirAfter(t *testing.T) {
	files := fstest.MapFS{"file": {}}
	for i := range 600 {
		files[fmt.Sprintf("many/%03d", i)] = &fstest.MapFile{}
	}
	err := within(t, files, func(dir fs.FS) error {
		for _, dir := range []fs.FS{dir, files} {
			for _, c := range []struct {
				after       string
				n           int
				first, last string
				want        int
			}{
				{"", 0, "000", "599", 600}, {"", 3, "000", "002", 3}, {"0", 300, "000", "299", 300}, {"149", 300, "150", "449", 300},
				{"149x", 1, "150", "150", 1}, {"590", 300, "591", "599", 9}, {"590", 9, "591", "599", 9},
			} {
				got, err := wasmres.ReadDirAfter(dir, "many", c.after, c.n)
				if err != nil || len(got) != c.want || got[0].Name() != c.first || got[len(got)-1].Name() != c.last {
					t.Errorf("%d after %q: got %d, %v", c.n, c.after, len(got), err)
				}
			}
			for _, n := range []int{0, 10} {
				if got, err := wasmres.ReadDirAfter(dir, "many", "599", n); len(got) != 0 || err != nil {
					t.Errorf("after the last: got %v, %v", got, err)
				}
				if _, err := wasmres.ReadDirAfter(dir, "missing", "", n); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("no folder: got %v", err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestDirErrors(t *testing.T) {
	err := within(t, fstest.MapFS{"f": {}}, func(dir fs.FS) error {
		for name, want := range map[string]error{"missing": fs.ErrNotExist, "../f": fs.ErrInvalid, "/f": fs.ErrInvalid, "": fs.ErrInvalid, "f/..": fs.ErrInvalid} {
			if _, err := dir.Open(name); !errors.Is(err, want) {
				t.Errorf("open %q: got %v, want %v", name, err, want)
			}
		}
		if _, err := wasmres.Dir("/other").Open("f"); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("not granted: got %v", err)
		}
		_, err := dir.Open("missing")
		return err
	})
	if !errors.Is(err, wasmres.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
}

func TestDirWithoutHost(t *testing.T) {
	if _, err := wasmres.Dir("/m").Open("f"); !errors.Is(err, wasmres.ErrUnsupported) {
		t.Errorf("got %v, want unsupported", err)
	}
}

func TestOpenFile(t *testing.T) {
	text := strings.Repeat("line\n", 30_000)
	err := within(t, fstest.MapFS{"f": {Data: []byte(text)}}, func(dir fs.FS) error {
		f, err := dir.Open("f")
		if err != nil {
			return err
		}
		p := make([]byte, 100_000)
		if n, err := f.(io.ReaderAt).ReadAt(p, 5); n != len(p) || err != nil || string(p) != text[5:5+len(p)] {
			t.Errorf("read at: got %d, %v", n, err)
		}
		if n, err := f.(io.Seeker).Seek(-5, io.SeekEnd); n != int64(len(text)-5) || err != nil {
			t.Errorf("seek: got %d, %v", n, err)
		}
		if rest, err := io.ReadAll(f); string(rest) != "line\n" || err != nil {
			t.Errorf("rest: got %q, %v", rest, err)
		}
		if _, err := f.(io.Seeker).Seek(-1, io.SeekStart); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("seek before the start: got %v", err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if _, err := f.Read(p); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("read after close: got %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestStreamFile(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 50_000)
	p := start(t, func() {
		wasmres.Resource("t://file", func(*wasmres.Request) (wasmres.Content, error) {
			f, err := wasmres.Dir("/m").Open("f")
			if err != nil {
				return wasmres.Content{}, err
			}
			return wasmres.Stream(f, -1), nil
		})
	})
	p.Mounts = map[string]fs.FS{"/m": fstest.MapFS{"f": {Data: data}}}
	if got := p.Bytes("t://file"); !bytes.Equal(got, data) {
		t.Errorf("got %d bytes, want %d", len(got), len(data))
	}
}

func TestMounts(t *testing.T) {
	p := start(t, func() {
		wasmres.Template("t://{+path}", func(r *wasmres.Request) ([]byte, error) {
			return fs.ReadFile(wasmres.Dir("/"), r.Var("path"))
		})
	})
	p.Mounts = map[string]fs.FS{"/": fstest.MapFS{"f": {Data: []byte("root")}}, "/m": fstest.MapFS{"f": {Data: []byte("mount")}}}
	for path, want := range map[string]string{"f": "root", "m/f": "mount"} {
		if got := p.Bytes("t://" + path); string(got) != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	if _, err := p.Read("t://mf"); !errors.Is(err, wasmres.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
}

// What is asked for through a file, or by a name no system has, is not there, on the host as here.
func TestPathsThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := within(t, os.DirFS(dir), func(dir fs.FS) error {
		for _, name := range []string{"file/below", "file/below/that", strings.Repeat("n", 1000)} {
			_, read := fs.ReadFile(dir, name)
			_, stat := fs.Stat(dir, name)
			_, list := fs.ReadDir(dir, name)
			for _, err := range []error{read, stat, list} {
				if !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%.20s: got %v, want not found", name, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
