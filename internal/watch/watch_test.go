package watch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/watch"
)

// write writes a file below dir, with the folders it takes.
func write(t *testing.T, dir, name string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(name+time.Now().String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, cfg watch.Config) *watch.Watcher {
	t.Helper()
	w, err := watch.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// wants fails the test unless these change next. What comes late, since the machine is busy, is waited for.
func wants(t *testing.T, w *watch.Watcher, want ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var got []string
	for len(got) < len(want) {
		c, err := w.Next(ctx)
		if err != nil {
			t.Fatalf("got %q, then %v, want %q", got, err, want)
		}
		got = append(got, c.Names...)
		slices.Sort(got)
		got = slices.Compact(got)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFilesThatChange(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.go")
	write(t, dir, "deep/er/b.go")
	w := open(t, watch.Config{Folder: dir})
	write(t, dir, "a.go")
	wants(t, w, "a.go")
	write(t, dir, "deep/er/b.go")
	wants(t, w, "deep/er/b.go")
	if err := os.Remove(filepath.Join(dir, "a.go")); err != nil {
		t.Fatal(err)
	}
	wants(t, w, "a.go")
	if err := os.Rename(filepath.Join(dir, "deep", "er", "b.go"), filepath.Join(dir, "c.go")); err != nil {
		t.Fatal(err)
	}
	wants(t, w, "c.go", "deep/er/b.go")
}

func TestChangesAtAboutTheSameTimeAreOne(t *testing.T) {
	dir := t.TempDir()
	w := open(t, watch.Config{Folder: dir, Quiet: time.Second, Longest: time.Minute})
	before := time.Now()
	for _, name := range []string{"a", "b", "a", "c", "a"} {
		write(t, dir, name)
	}
	c, err := w.Next(t.Context())
	if err != nil || !slices.Equal(c.Names, []string{"a", "b", "c"}) {
		t.Fatalf("got %v, %v", c, err)
	}
	if c.At.Before(before) || time.Since(c.At) < time.Second {
		t.Errorf("the first was seen at %v, and it is %v now: it was to be quiet for a second", c.At, time.Now())
	}
}

// What never stops changing is told all the same.
func TestChangesWithoutEnd(t *testing.T) {
	dir := t.TempDir()
	w := open(t, watch.Config{Folder: dir, Quiet: time.Minute, Longest: time.Millisecond})
	write(t, dir, "a")
	wants(t, w, "a")
}

// Some write a new file and put it in the place of the old one.
func TestFilesThatAreThereForAMoment(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a")
	w := open(t, watch.Config{Folder: dir, Quiet: 200 * time.Millisecond})
	write(t, dir, "sedXYZ")
	if err := os.Remove(filepath.Join(dir, "sedXYZ")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if c, err := w.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, %v, want nothing", c, err)
	}
	write(t, dir, "sedXYZ")
	if err := os.Rename(filepath.Join(dir, "sedXYZ"), filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	wants(t, w, "a")
}

func TestFoldersThatAreNew(t *testing.T) {
	dir := t.TempDir()
	w := open(t, watch.Config{Folder: dir})
	write(t, dir, "new/one/a") // perhaps before the folder is watched
	wants(t, w, "new/one/a")
	write(t, dir, "new/one/b")
	wants(t, w, "new/one/b")
	if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	wants(t, w, "new", "other/one/a", "other/one/b")
	write(t, dir, "other/one/b")
	wants(t, w, "other/one/b")
}

func TestWhatIsNobodysBusiness(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "target/old")
	w := open(t, watch.Config{Folder: dir, Ignores: func(name string) bool {
		return name == "target" || name == "src/made" || strings.HasSuffix(name, ".wasm")
	}})
	for _, name := range []string{
		".git/HEAD", "src/.main.go.swp", "src/main.go~", "src/4913", "src/#main.go#", "src/main.go___jb_tmp___",
		"notes.wasm", "target/new", "target/deep/new", "src/made/a", ".hidden",
	} {
		write(t, dir, name)
	}
	if err := os.Chmod(filepath.Join(dir, "target"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "src/main.go")
	wants(t, w, "src/main.go")
}

func TestTooManyFolders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/f", "b/f", "c/f"} {
		write(t, dir, name)
	}
	_, err := watch.Open(watch.Config{Folder: dir, MaxFolders: 3})
	if err == nil || !strings.Contains(err.Error(), "has more than 3 folders") {
		t.Errorf("got %v, want words for too many", err)
	}

	w := open(t, watch.Config{Folder: dir, MaxFolders: 4})
	write(t, dir, "d/f")
	write(t, dir, "a/f")
	c, err := w.Next(t.Context())
	const words = "not all of them are watched"
	if c == nil || !slices.Contains(c.Names, "a/f") || err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("got %v, %v, want the change and words for what is not watched", c, err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil { // which makes room
		t.Fatal(err)
	}
	wants(t, w, "a", "a/f")
	write(t, dir, "e/f")
	wants(t, w, "e/f")
}

func TestTheEnd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "project")
	if _, err := watch.Open(watch.Config{Folder: dir}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: got %v", err)
	}
	write(t, dir, "a")
	w := open(t, watch.Config{Folder: dir})
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := w.Next(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Next(t.Context()); !errors.Is(err, watch.ErrGone) {
		t.Errorf("got %v, want %v", err, watch.ErrGone)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Next(t.Context()); !errors.Is(err, watch.ErrClosed) {
		t.Errorf("got %v, want %v", err, watch.ErrClosed)
	}
}

func TestAFolderByASymbolicLink(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "real/a")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "real"), link); err != nil {
		t.Fatal(err)
	}
	w := open(t, watch.Config{Folder: link})
	write(t, dir, "real/a")
	wants(t, w, "a")
}
