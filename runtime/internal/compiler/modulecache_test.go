package compiler_test

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/module"

	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

var _ module.Cache = (*compiler.Compiler)(nil)

// cacheIn makes a compiler over a folder.
func cacheIn(t *testing.T, dir string) *compiler.Compiler {
	t.Helper()
	c, err := compiler.New(compiler.Config{CacheDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// kept returns the one file of a prepared module there is.
func kept(t *testing.T, dir string) string {
	t.Helper()
	files := glob(t, dir)
	if len(files) != 1 {
		t.Fatalf("got %v, want one file", files)
	}
	return files[0]
}

func TestWhatIsKeptIsFoundByAnother(t *testing.T) {
	dir := t.TempDir()
	key, other := sha256.Sum256([]byte("a")), sha256.Sum256([]byte("b"))
	cacheIn(t, dir).Put(key, []byte("old"))
	cacheIn(t, dir).Put(key, []byte("text"))
	if got := cacheIn(t, dir).Get(key); string(got) != "text" {
		t.Errorf("got %q, want text", got)
	}
	if got := cacheIn(t, dir).Get(other); got != nil {
		t.Errorf("got %q of a key nothing was kept under", got)
	}
}

func TestWhatIsNotAsItWasKeptIsNotFound(t *testing.T) {
	key := sha256.Sum256([]byte("a"))
	for name, spoil := range map[string]func(file string) error{
		"a byte changed": func(file string) error { return change(file, func(b []byte) []byte { b[40] ^= 1; return b }) },
		"its digest changed": func(file string) error {
			return change(file, func(b []byte) []byte { b[0] ^= 1; return b })
		},
		"cut short":  func(file string) error { return change(file, func(b []byte) []byte { return b[:35] }) },
		"empty":      func(file string) error { return os.Truncate(file, 0) },
		"far longer": func(file string) error { return os.Truncate(file, 1<<40) },
		"a folder":   func(file string) error { return os.Mkdir(gone(file), 0o700) },
		"a link":     func(file string) error { return os.Symlink(moved(file), file) },
		"for all to write": func(file string) error {
			return os.Chmod(filepath.Dir(file), 0o777)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c := cacheIn(t, dir)
			c.Put(key, []byte(strings.Repeat("text", 8)))
			if err := spoil(kept(t, dir)); err != nil {
				t.Fatal(err)
			}
			if got := c.Get(key); got != nil {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestADamagedPreparedModuleIsMadeAgain(t *testing.T) {
	dir := t.TempDir()
	binary, err := os.ReadFile("../../../testdata/wasm/faults.wasm")
	if err != nil {
		t.Fatal(err)
	}
	prepare := func(cfg provider.Config) string {
		t.Helper()
		p, err := provider.Instrument(cfg, binary)
		if err != nil {
			t.Fatal(err)
		}
		return string(p.Append(nil))
	}
	want, on := prepare(provider.Config{}), provider.Config{ModuleCache: cacheIn(t, dir)}
	for _, when := range []string{"first", "again"} {
		if got := prepare(on); got != want {
			t.Errorf("%s: got another module", when)
		}
	}
	file := kept(t, dir)
	if err := change(file, func(b []byte) []byte { b[len(b)-1] ^= 1; return b }); err != nil {
		t.Fatal(err)
	}
	if got := prepare(on); got != want {
		t.Error("damaged: got another module")
	}
	on.Limits.Table = 7_000
	if prepare(on); len(glob(t, dir)) != 2 {
		t.Errorf("got %v, want a file for each limit", glob(t, dir))
	}
}

func glob(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.prepared"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func change(file string, how func([]byte) []byte) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, how(text), 0o600)
}

func gone(file string) string {
	_ = os.Remove(file) // what takes its place says whether that worked
	return file
}

func moved(file string) string {
	_ = os.Rename(file, file+".moved") // likewise
	return file + ".moved"
}
