package compiler_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/compiler"
)

// hexOf returns a digest made of one character.
func hexOf(c string) string { return strings.Repeat(c, 64) }

// cacheFile makes a file of a cache folder that was used so long ago.
func cacheFile(t *testing.T, name string, size int, ago time.Duration) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{name, filepath.Dir(name)} {
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-ago)); err != nil {
			t.Fatal(err)
		}
	}
}

// newCacheDir makes a cache folder with a compiled module of 1,100 bytes, which was used two hours ago, a prepared one of
// 500, three hours ago, a refused one of 10, four hours ago, a compiled one without a marker, five hours ago, and things
// that are none of the cache's.
func newCacheDir(t *testing.T) string {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cacheFile(t, filepath.Join(dir, hexOf("a"), "wazero-v1", "code"), 1000, 9*time.Hour)
	cacheFile(t, filepath.Join(dir, hexOf("d"), "wazero-v1", "code"), 300, 5*time.Hour)
	for folder, ago := range map[string]time.Duration{hexOf("a"): 9 * time.Hour, hexOf("d"): 5 * time.Hour} {
		if err := os.Chtimes(filepath.Join(dir, folder), time.Time{}, time.Now().Add(-ago)); err != nil {
			t.Fatal(err)
		}
	}
	cacheFile(t, filepath.Join(dir, hexOf("a")+".compiled"), 100, 2*time.Hour)
	cacheFile(t, filepath.Join(dir, hexOf("b")+".prepared"), 500, 3*time.Hour)
	cacheFile(t, filepath.Join(dir, hexOf("c")+".refused"), 10, 4*time.Hour)
	cacheFile(t, filepath.Join(dir, "notes.txt"), 10, 99*time.Hour)
	cacheFile(t, filepath.Join(dir, "compiling-1", "code"), 10, time.Hour)
	cacheFile(t, filepath.Join(dir, hexOf("e")+".other"), 10, 99*time.Hour)
	if err := os.Symlink(dir, filepath.Join(dir, hexOf("f"))); err != nil {
		t.Skip(err) // which on Windows only some users may
	}
	return dir
}

func namesOf(all []compiler.Cached) (names []string) {
	for _, one := range all {
		names = append(names, fmt.Sprintf("%s %s %d", one.Digest[:1], one.Kind, one.Bytes))
	}
	return names
}

func TestAFullCacheLosesWhatWasUsedLeastRecently(t *testing.T) {
	all := []string{"d compiled 300", "c refused 10", "b prepared 500", "a compiled 1100"}
	for name, tt := range map[string]struct {
		most int64
		gone int
	}{
		"room for all": {1910, 0}, "one byte too many": {1909, 1}, "two": {1600, 2}, "three": {1599, 3}, "nothing": {0, 4},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newCacheDir(t)
			before, err := compiler.List(dir)
			if err != nil || !slices.Equal(namesOf(before), all) || compiler.Size(before) != 1910 {
				t.Fatalf("got %q, %v", namesOf(before), err)
			}
			removed, err := compiler.Clean(dir, tt.most)
			if err != nil || !slices.Equal(namesOf(removed), all[:tt.gone]) {
				t.Errorf("removed %q, %v", namesOf(removed), err)
			}
			left, err := compiler.List(dir)
			if err != nil || !slices.Equal(namesOf(left), all[tt.gone:]) {
				t.Errorf("left %q, %v", namesOf(left), err)
			}
			for _, other := range []string{"notes.txt", "compiling-1/code", hexOf("e") + ".other", hexOf("f")} {
				if _, err := os.Lstat(filepath.Join(dir, other)); err != nil {
					t.Errorf("what is none of the cache's: %v", err)
				}
			}
		})
	}
}

func TestACacheThatIsNotThereIsEmpty(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "absent")
	all, err := compiler.List(dir)
	if removed, cleaned := compiler.Clean(dir, 0); err != nil || cleaned != nil || len(all)+len(removed) > 0 {
		t.Errorf("got %v, %v, %v", all, err, cleaned)
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Error("it is made by looking at it")
	}
}

// TestACacheKeepsToItsSize adds to a folder that is full: what was taken from it lately stays, and what was used just now
// stays however full it is.
func TestACacheKeepsToItsSize(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := compiler.New(compiler.Config{CacheDir: dir, MaxBytes: 3500})
	if err != nil {
		t.Fatal(err)
	}
	key := func(n byte) [sha256.Size]byte { return [sha256.Size]byte{n} }
	keep := func(n byte) { c.Put(key(n), make([]byte, 1000)) }
	age := func() { // all that is there was used an hour ago
		files, _ := filepath.Glob(filepath.Join(dir, "*.prepared"))
		for i, file := range files {
			if err := os.Chtimes(file, time.Time{}, time.Now().Add(-time.Hour-time.Duration(i)*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for n := range byte(3) {
		keep(n)
	}
	age()
	if c.Get(key(1)) == nil {
		t.Fatal("what was kept is gone")
	}
	keep(3)
	if c.Get(key(1)) == nil || c.Get(key(3)) == nil {
		t.Error("what was used lately is gone")
	}
	all, err := compiler.List(dir)
	if err != nil || compiler.Size(all) > 3500 || len(all) != 3 {
		t.Errorf("got %q, %v", namesOf(all), err)
	}
	for n := range byte(5) {
		keep(10 + n) // all at once
	}
	for n := range byte(5) {
		if c.Get(key(10+n)) == nil {
			t.Errorf("%d was just kept and is gone", n)
		}
	}
}
