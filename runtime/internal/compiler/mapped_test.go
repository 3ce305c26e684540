package compiler_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
)

// codeOf opens the native code of a module for an owner, and returns its name and content.
func codeOf(t *testing.T, c *compiler.Compiler, binary []byte, owner string) (file string, content []byte) {
	t.Helper()
	ctx := t.Context()
	if owner != "" {
		ctx = compiler.WithOwner(ctx, owner)
	}
	dir, err := c.Folder(ctx, binary)
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Code(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if content, err = io.ReadAll(f); err != nil {
		t.Fatal(err)
	}
	return f.Name(), content
}

// mapsCode makes a compiler whose engine maps native code from a file of its own.
func mapsCode(t *testing.T, dir string) *compiler.Compiler {
	t.Helper()
	c := newCompiler(t, compiler.Config{CacheDir: dir, Engine: enginetest.Kind()})
	if !c.MapsCode() {
		t.Skip("the engine maps native code by itself")
	}
	return c
}

func TestEachOwnerHasAFileOfNativeCode(t *testing.T) {
	dir := t.TempDir()
	c := mapsCode(t, dir)
	nobodys, want := codeOf(t, c, tiny(), "")
	acmes, ours := codeOf(t, c, tiny(), "acme")
	if nobodys == acmes || string(ours) != string(want) || len(want) == 0 {
		t.Errorf("got %s with %d bytes, and %s with %d, want two files of the same bytes", nobodys, len(want), acmes, len(ours))
	}
	info, err := os.Stat(acmes)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o400 {
		t.Errorf("the file has mode %v", info.Mode())
	}
	if again, _ := codeOf(t, mapsCode(t, dir), tiny(), "acme"); again != acmes {
		t.Errorf("another compiler gives %s, want %s", again, acmes)
	}
	if now, err := os.Stat(acmes); err != nil || !os.SameFile(info, now) {
		t.Errorf("the file was made again: %v", err)
	}
}

func TestAFileOfNativeCodeIsMadeAgain(t *testing.T) {
	for name, harm := range map[string]func(file string) error{
		"removed": os.Remove,
		"cut": func(file string) error {
			return replace(file, func() error { return os.WriteFile(file, []byte("cut"), 0o400) })
		},
		"a symlink": func(file string) error { return replace(file, func() error { return os.Symlink(os.DevNull, file) }) },
	} {
		t.Run(name, func(t *testing.T) {
			c := mapsCode(t, t.TempDir())
			file, want := codeOf(t, c, tiny(), "acme")
			if err := harm(file); err != nil {
				t.Fatal(err)
			}
			if again, got := codeOf(t, c, tiny(), "acme"); again != file || string(got) != string(want) {
				t.Errorf("got %s with %d bytes, want %s with %d", again, len(got), file, len(want))
			}
		})
	}
}

func TestCodeOfAnEntryThatWasMadeAgainIsAnotherFile(t *testing.T) {
	c := mapsCode(t, t.TempDir())
	before, _ := codeOf(t, c, tiny(), "acme")
	if err := c.Invalidate(tiny()); err != nil {
		t.Fatal(err)
	}
	if after, _ := codeOf(t, c, tiny(), "acme"); after == before {
		t.Errorf("the file is the same: %s", after)
	}
}

func TestThereIsNoCodeWithoutAnEntry(t *testing.T) {
	dir := t.TempDir()
	c := mapsCode(t, dir)
	folder, err := c.Folder(t.Context(), tiny())
	if err != nil {
		t.Fatal(err)
	}
	file := entry(t, c, tiny())
	zeros := func() error { return change(file, func(b []byte) []byte { return make([]byte, len(b)) }) }
	for _, tt := range []struct { // in this order
		name, dir string
		prepare   func() error
	}{
		{"another directory", filepath.Join(dir, "other"), nil},
		{"an unknown module", filepath.Join(dir, "0000"+filepath.Base(folder)[4:]), nil},
		{"an entry of zeros", folder, zeros},
		{"no entry", folder, func() error { return os.Remove(file) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.prepare != nil {
				if err := tt.prepare(); err != nil {
					t.Fatal(err)
				}
			}
			if f, err := c.Code(t.Context(), tt.dir); err == nil {
				t.Errorf("got %s", f.Name())
			}
		})
	}
}

func replace(file string, with func() error) error {
	if err := os.Remove(file); err != nil {
		return err
	}
	return with()
}

func TestFilesOfNativeCodeAreCleaned(t *testing.T) {
	dir := t.TempDir()
	file, content := codeOf(t, mapsCode(t, dir), tiny(), "acme")
	all, err := compiler.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	var bytes int64
	for _, one := range all {
		if one.Kind == "mapped" {
			bytes += one.Bytes
		}
	}
	if bytes != int64(len(content)) {
		t.Errorf("the list has %d bytes of native code, want %d: %v", bytes, len(content), all)
	}
	if _, err := compiler.Clean(dir, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}

// A full cache loses files of native code before the entries from which they are made again, and none that is in use.
func TestFilesOfNativeCodeAreRemovedFirst(t *testing.T) {
	dir := t.TempDir()
	c := mapsCode(t, dir)
	unused, _ := codeOf(t, c, tiny(), "acme")
	used, _ := codeOf(t, c, tiny(), "zoo")
	other, text := [32]byte{1}, []byte("a prepared module")
	c.Put(other, text)
	all, err := compiler.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	age := func(kind string, by time.Duration) {
		for _, one := range all {
			if one.Kind != kind {
				continue
			}
			names := []string{one.Digest + "." + kind}
			if kind == "compiled" {
				names = append(names, one.Digest)
			}
			for _, name := range names {
				if err := os.Chtimes(filepath.Join(dir, name), time.Time{}, time.Now().Add(-by)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	age("mapped", time.Hour)
	ctx := compiler.WithOwner(t.Context(), "zoo")
	folder, err := c.Folder(ctx, tiny())
	if err != nil {
		t.Fatal(err)
	}
	c.Used(ctx, folder)
	age("compiled", 2*time.Hour)
	full := newCompiler(t, compiler.Config{CacheDir: dir, Engine: enginetest.Kind(), MaxBytes: compiler.Size(all) - 1})
	full.Put(other, text) // again, which keeps to the size
	for file, want := range map[string]bool{unused: false, used: true, folder: true} {
		if _, err := os.Lstat(file); (err == nil) != want {
			t.Errorf("%s: %v, want there: %t", file, err, want)
		}
	}
}

// Once there are owners, a module without one could be that of any of them.
func TestThereIsNoCodeWithoutAnOwnerBesideOwners(t *testing.T) {
	c := mapsCode(t, t.TempDir())
	codeOf(t, c, tiny(), "")
	codeOf(t, c, tiny(), "acme")
	dir, err := c.Folder(t.Context(), tiny())
	if err != nil {
		t.Fatal(err)
	}
	if f, err := c.Code(t.Context(), dir); err == nil {
		t.Errorf("got %s", f.Name())
	}
}
