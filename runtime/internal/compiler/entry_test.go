//go:build linux

package compiler_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
)

// entry compiles a module and gives its file.
func entry(t *testing.T, c *compiler.Compiler, binary []byte) string {
	t.Helper()
	file, err := c.Entry(t.Context(), binary)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestEntryNamesTheFile(t *testing.T) {
	leavesNothing(t)
	t.Chdir(t.TempDir())
	c := newCompiler(t, compiler.Config{CacheDir: "cache"}) // relative
	file := entry(t, c, tiny())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if want := files(t, filepath.Join(here, "cache"), "*", "wazero-*", "*"); len(want) != 1 || file != want[0] {
		t.Errorf("got %s, want %v", file, want)
	}
	if again := entry(t, newCompiler(t, compiler.Config{CacheDir: "cache", Executable: "/nonexistent"}), tiny()); again != file {
		t.Errorf("got %s from another compiler, want %s", again, file)
	}
	if file, err := c.Entry(t.Context(), []byte("MZ")); file != "" || abi.CodeOf(err) != abi.CodeModule {
		t.Errorf("got %q, %v for what is no module", file, err)
	}
}

// Where the damage shows from outside, it is made good without a word. Where it does not, Forget is the word.
func TestADamagedEntryIsMadeAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		damage func(file string, content []byte) error
		shows  bool
	}{
		"flipped": {func(file string, content []byte) error {
			content[len(content)/2] ^= 0xff
			return os.WriteFile(file, content, 0o600)
		}, false},
		"zeros":     {func(file string, content []byte) error { return os.WriteFile(file, make([]byte, len(content)), 0o600) }, false},
		"truncated": {func(file string, content []byte) error { return os.Truncate(file, int64(len(content)/2)) }, true},
		"longer":    {func(file string, content []byte) error { return os.Truncate(file, int64(len(content)+1)) }, true},
		"FIFO":      {func(file string, _ []byte) error { return errors.Join(os.Remove(file), unix.Mkfifo(file, 0o600)) }, true},
		"link": {func(file string, _ []byte) error {
			return errors.Join(os.Remove(file), os.Symlink("/etc/passwd", file))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			leavesNothing(t)
			dir := newDir(t)
			c := newCompiler(t, compiler.Config{CacheDir: dir})
			binary := functions(50)
			file := entry(t, c, binary)
			sound, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := tt.damage(file, bytes.Clone(sound)); err != nil {
				t.Fatal(err)
			}
			if !tt.shows {
				if err := load(t, dir, binary); err == nil {
					t.Error("the engine takes the damaged entry")
				}
				if err := c.Invalidate(binary); err != nil {
					t.Fatal(err)
				}
				if left := append(files(t, dir, "*", "wazero-*", "*"), files(t, dir, "*.compiled")...); len(left) > 0 {
					t.Errorf("left after Forget: %v", left)
				}
			}
			if again := entry(t, c, binary); again != file {
				t.Errorf("got %s, want %s", again, file)
			}
			if mended, err := os.ReadFile(file); err != nil || !bytes.Equal(mended, sound) {
				t.Errorf("got %d bytes, %v, want what it was", len(mended), err)
			}
			if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
				t.Errorf("got %v, %v, want a file", info, err)
			}
		})
	}
}

func TestAFolderInPlaceOfAnEntryIsAnError(t *testing.T) {
	leavesNothing(t)
	dir := newDir(t)
	c := newCompiler(t, compiler.Config{CacheDir: dir})
	file := entry(t, c, tiny())
	if err := errors.Join(os.Remove(file), os.MkdirAll(filepath.Join(file, "full"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := c.Invalidate(tiny()); err != nil {
		t.Error(err)
	}
	_, err := c.Entry(t.Context(), tiny())
	check(t, dir, err, abi.CodeInternal, "file exists")
	if err := os.RemoveAll(file); err != nil {
		t.Fatal(err)
	}
	if again := entry(t, c, tiny()); again != file {
		t.Errorf("got %s, want %s", again, file)
	}
}

func TestForgetIsForEntries(t *testing.T) {
	leavesNothing(t)
	dir := newDir(t)
	c := newCompiler(t, compiler.Config{CacheDir: dir})
	if err := c.Invalidate(tiny()); err != nil {
		t.Errorf("got %v for a module that has none", err)
	}
	refused := []byte("MZ")
	check(t, dir, c.Compile(t.Context(), refused), abi.CodeModule, "")
	file := entry(t, c, tiny())
	if err := errors.Join(c.Invalidate(refused), newCompiler(t, compiler.Config{CacheDir: dir}).Invalidate(tiny())); err != nil {
		t.Error(err)
	}
	if left := files(t, dir, "*.*ed"); len(left) != 1 || filepath.Ext(left[0]) != ".refused" {
		t.Errorf("got %v, want the refusal", left)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want no entry", err)
	}
}

// A marker may have been tampered with.
func TestForgetRemovesNothingElse(t *testing.T) {
	for name, target := range map[string]string{"outside": "../precious", "the folder": ".", "inside": "precious"} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			c := newCompiler(t, compiler.Config{CacheDir: dir})
			entry(t, c, tiny())
			precious := filepath.Join(filepath.Dir(dir), "precious")
			marker := files(t, dir, "*.compiled")[0]
			if err := errors.Join(os.WriteFile(precious, []byte("x"), 0o600),
				os.WriteFile(marker, []byte(`{"file":"`+target+`","size":1}`), 0o600)); err != nil {
				t.Fatal(err)
			}
			if err := newCompiler(t, compiler.Config{CacheDir: dir}).Invalidate(tiny()); err != nil {
				t.Error(err)
			}
			for _, file := range []string{dir, precious} {
				if _, err := os.Stat(file); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
