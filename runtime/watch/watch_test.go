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

	"github.com/wasmres/wasmres/runtime/watch"
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
	w, err := watch.Open(t.Context(), cfg)
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
	if testing.Short() {
		t.Skip("it waits for a clock")
	}
	dir := t.TempDir()
	write(t, dir, "a")
	w := open(t, watch.Config{Folder: dir, Quiet: time.Second}) // for which a busy disk delays nothing
	write(t, dir, "sedXYZ")
	if err := os.Remove(filepath.Join(dir, "sedXYZ")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
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
	_, err := watch.Open(t.Context(), watch.Config{Folder: dir, MaxFolders: 3})
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
	if _, err := watch.Open(t.Context(), watch.Config{Folder: dir}); !errors.Is(err, os.ErrNotExist) {
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

// Who wants all of it misses nothing that could matter.
func TestAllOfIt(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"a file that took another's place, and is gone": func(dir string) error {
			replaced := os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "a"))
			return errors.Join(replaced, os.Remove(filepath.Join(dir, "a")))
		},
		"an empty folder": func(dir string) error { return os.Mkdir(filepath.Join(dir, "new"), 0o700) },
		"permissions":     func(dir string) error { return os.Chmod(filepath.Join(dir, "a"), 0o400) },
		"a time":          func(dir string) error { return os.Chtimes(filepath.Join(dir, "a"), time.Time{}, time.Unix(1, 0)) },
		"a hidden file":   func(dir string) error { return os.WriteFile(filepath.Join(dir, ".a"), nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "a")
			write(t, dir, "b")
			w := open(t, watch.Config{Folder: dir, All: true})
			if err := change(dir); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if c, err := w.Next(ctx); err != nil || len(c.Names) == 0 {
				t.Errorf("got %+v, %v", c, err)
			}
		})
	}
}

// Folders may be moved about as they like: what is in them is watched under the names they have in the end.
func TestFoldersThatAreMovedAbout(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/s/f", "b/f", "c/f"} {
		write(t, dir, name)
	}
	w := open(t, watch.Config{Folder: dir, All: true})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	move := func(from, to string) {
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		move("b", "x")
		move("c", "b")
		move("x", "c")
		move("a/s", "b/s")
		if c, err := w.Next(ctx); err != nil || !c.Entries {
			t.Fatalf("got %+v, %v", c, err)
		}
		for _, name := range []string{"b/s/f", "b/f", "c/f"} {
			write(t, dir, name)
			wantsAmong(t, w, name)
		}
		move("b/s", "a/s")
		if _, err := w.Next(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// wantsAmong fails the test unless this changes, whatever else does.
func wantsAmong(t *testing.T, w *watch.Watcher, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		c, err := w.Next(ctx)
		if err != nil {
			t.Fatalf("got %v, want %s", err, want)
		}
		if slices.Contains(c.Names, want) {
			return
		}
	}
}

// What waits to be told may be as old as the last time something was.
func TestSinceWhen(t *testing.T) {
	dir := t.TempDir()
	w := open(t, watch.Config{Folder: dir})
	next := func() *watch.Change {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c, err := w.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	write(t, dir, "a")
	next()
	before := time.Now()
	write(t, dir, "b")
	<-time.After(200 * time.Millisecond)
	if c := next(); c.Since.After(before) || !c.At.After(before) {
		t.Errorf("it was written at %v or later, and told as since %v, seen at %v", before, c.Since, c.At)
	}
}

func TestWhoOpensMayGiveUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := watch.Open(ctx, watch.Config{Folder: t.TempDir(), All: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
