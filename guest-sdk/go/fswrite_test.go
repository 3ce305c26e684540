package wasmres_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

// writing runs f as a handler, with a folder that may be written at /m, and gives the folder.
func writing(t *testing.T, f func(dir wasmres.Directory) error) (folder string) {
	t.Helper()
	folder = t.TempDir()
	err := within(t, wasmrestest.Writable(folder), func(fs.FS) error { return f(wasmres.Dir("/m")) })
	if err != nil {
		t.Error(err)
	}
	return folder
}

func TestDirectoryWrites(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 60_000)
	folder := writing(t, func(dir wasmres.Directory) error {
		for _, c := range []struct {
			write      func(name string, data []byte) (fs.FileInfo, error)
			name, data string
			want       string
		}{
			{dir.WriteFile, "a", "a longer text", "a longer text"},
			{dir.WriteFile, "a", "text", "text"},
			{dir.AppendFile, "a", ", more", "text, more"},
			{dir.AppendFile, "a", "", "text, more"},
			{dir.AppendFile, "größe/狐/log", "x", "x"},
			{dir.AppendFile, "größe/狐/log", "\x00\xff", "x\x00\xff"},
			{dir.WriteFile, "größe/empty", "", ""},
			{dir.WriteFile, "big", big, big},
			{dir.AppendFile, "big", big, big + big},
		} {
			info, err := c.write(c.name, []byte(c.data))
			if err != nil {
				return err
			}
			if info.Name() != filepath.Base(c.name) || info.Size() != int64(len(c.want)) || info.IsDir() || info.ModTime().IsZero() {
				t.Errorf("%s: got %v, want a file of %d bytes", c.name, info, len(c.want))
			}
			if got, err := fs.ReadFile(dir, c.name); string(got) != c.want || err != nil {
				t.Errorf("%s: got %.50q, %v, want %.50q", c.name, got, err, c.want)
			}
		}
		return nil
	})
	if got, err := os.ReadFile(filepath.Join(folder, "größe", "狐", "log")); string(got) != "x\x00\xff" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestDirectoryRemoves(t *testing.T) {
	folder := writing(t, func(dir wasmres.Directory) error {
		for _, name := range []string{"a/b", "c"} {
			if _, err := dir.WriteFile(name, nil); err != nil {
				return err
			}
		}
		if err := dir.Remove("a"); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("a folder that is not empty: got %v", err)
		}
		for _, name := range []string{"a/b", "a"} {
			if err := dir.Remove(name); err != nil {
				t.Error(err)
			}
			if err := dir.Remove(name); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is gone: got %v", name, err)
			}
		}
		return nil
	})
	if left, err := os.ReadDir(folder); len(left) != 1 || left[0].Name() != "c" || err != nil {
		t.Errorf("there are %v, %v, want c", left, err)
	}
}

func TestDirectoryRefusesToWrite(t *testing.T) {
	folder := writing(t, func(dir wasmres.Directory) error {
		if _, err := dir.WriteFile("folder/file", []byte("text")); err != nil {
			return err
		}
		for _, name := range []string{"", ".", "..", "../x", "/x", "x/", "folder//x", "folder", "folder/file/x"} {
			if info, err := dir.WriteFile(name, nil); info != nil || !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("write %q: got %v, %v, want invalid", name, info, err)
			}
			if info, err := dir.AppendFile(name, nil); info != nil || !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("append to %q: got %v, %v, want invalid", name, info, err)
			}
			if err := dir.Remove(name); !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("remove %q: got %v, want invalid", name, err)
			}
		}
		_, err := wasmres.Dir("/other").WriteFile("x", nil)
		if e, ok := err.(*fs.PathError); !ok || e.Op != "write" || e.Path != "x" || e.Err != fs.ErrPermission {
			t.Errorf("not granted: got %v", err)
		}
		return nil
	})
	if left, err := os.ReadDir(folder); len(left) != 1 || err != nil {
		t.Errorf("there are %v, %v, want one folder", left, err)
	}
}

func TestDirectoryWritesCloseToOneMebibyte(t *testing.T) {
	folder := writing(t, func(dir wasmres.Directory) error {
		_, err := dir.WriteFile("f", make([]byte, 1<<20-100))
		if err != nil {
			return err
		}
		for _, n := range []int{1<<20 - 10, 1 << 20, 5 << 20} {
			for _, write := range []func(string, []byte) (fs.FileInfo, error){dir.WriteFile, dir.AppendFile} {
				if _, err := write("f", make([]byte, n)); !errors.Is(err, wasmres.ErrTooLarge) || !strings.Contains(err.Error(), "1 MiB") {
					t.Errorf("%d bytes: got %v, want too large", n, err)
				}
			}
		}
		return nil
	})
	if got, err := os.ReadFile(filepath.Join(folder, "f")); !bytes.Equal(got, make([]byte, 1<<20-100)) || err != nil {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

func TestDirectoryThatIsOnlyRead(t *testing.T) {
	files := fstest.MapFS{"f": {}}
	err := within(t, files, func(fs.FS) error {
		if err := wasmres.Dir("/m").Remove("f"); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("remove: got %v", err)
		}
		_, err := wasmres.Dir("/m").AppendFile("f", []byte("x"))
		return err
	})
	if !errors.Is(err, wasmres.ErrDenied) || len(files["f"].Data) > 0 {
		t.Errorf("append: got %v, want denied", err)
	}
	if _, err := wasmres.Dir("/m").WriteFile("f", nil); !errors.Is(err, wasmres.ErrUnsupported) {
		t.Errorf("without a host: got %v, want unsupported", err)
	}
}
