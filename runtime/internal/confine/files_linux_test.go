package confine_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/confine"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
)

// A use is something a process does with files between the stages. dir has the folders "read", "write" and "other",
// each with a file "old", and a file "one", which may be read.
type use struct {
	name string
	do   func(dir string) error
	want syscall.Errno // zero when it is allowed
}

func uses() []use {
	read := func(names ...string) func(string) error {
		return func(dir string) error { return discard(os.ReadFile(filepath.Join(dir, filepath.Join(names...)))) }
	}
	write := func(names ...string) func(string) error {
		return func(dir string) error {
			return os.WriteFile(filepath.Join(dir, filepath.Join(names...)), []byte("x"), 0o600)
		}
	}
	move := func(from, to string) func(string) error {
		return func(dir string) error { return os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)) }
	}
	return []use{
		{"read what may be read", read("read", "old"), 0},
		{"list what may be read", func(dir string) error { return discard(os.ReadDir(filepath.Join(dir, "read"))) }, 0},
		{"read a file that may be", read("one"), 0},
		{"read what may be written", read("write", "old"), 0},
		{"write", write("write", "new"), 0},
		{"overwrite", write("write", "old"), 0},
		{"make a folder", func(dir string) error { return os.Mkdir(filepath.Join(dir, "write", "a"), 0o700) }, unix.EPERM},
		{"write deeper", write("write", "deep", "new"), 0},
		{"rename", move("write/new", "write/newer"), 0},
		{"remove", func(dir string) error { return os.Remove(filepath.Join(dir, "write", "newer")) }, 0},
		{"remove a folder", func(dir string) error { return unix.Rmdir(filepath.Join(dir, "write", "empty")) }, unix.EACCES},
		{"compile", func(dir string) error { return compile(filepath.Join(dir, "write", "cache"), os.Stdin) }, 0},

		{"read elsewhere", read("other", "old"), unix.EACCES},
		{"list elsewhere", func(dir string) error { return discard(os.ReadDir(filepath.Join(dir, "other"))) }, unix.EACCES},
		{"list above", func(dir string) error { return discard(os.ReadDir(dir)) }, unix.EACCES},
		{"read /etc/passwd", func(string) error { return discard(os.ReadFile("/etc/passwd")) }, unix.EACCES},
		{"read /proc/self/environ", func(string) error { return discard(os.ReadFile("/proc/self/environ")) }, unix.EACCES},
		{"open /proc/self/mem", func(string) error { return discard(os.OpenFile("/proc/self/mem", os.O_RDWR, 0)) }, unix.EACCES},
		{"write elsewhere", write("other", "new"), unix.EACCES},
		{"overwrite elsewhere", write("other", "old"), unix.EACCES},
		{"write where one may read", write("read", "new"), unix.EACCES},
		{"overwrite where one may read", write("read", "old"), unix.EACCES},
		{"overwrite a file that may be read", write("one"), unix.EACCES},
		{"make a folder elsewhere", func(dir string) error { return os.Mkdir(filepath.Join(dir, "other", "a"), 0o700) }, unix.EPERM},
		{"remove elsewhere", func(dir string) error { return unix.Unlink(filepath.Join(dir, "other", "old")) }, unix.EACCES},
		{"move out", move("write/old", "other/new"), unix.EACCES},
		{"move in", move("other/old", "write/stolen"), unix.EACCES},
		{"leave by a link", read("write", "link"), unix.EACCES},
	}
}

// compile compiles the module in r, leaving it in a folder.
func compile(dir string, r io.Reader) error {
	module, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return wazero.Precompile(context.Background(), dir, module)
}

func childFiles(args []string) error {
	dir := args[0]
	_, err := confine.Enter(confine.Profile{
		Memory: 4 << 30, FileSize: 256 << 20,
		Read:  []string{filepath.Join(dir, "read"), filepath.Join(dir, "one")},
		Write: []string{filepath.Join(dir, "write")},
	})
	if err != nil {
		return err
	}
	outcomes := map[string]string{}
	for _, u := range uses() {
		err := u.do(dir)
		var errno syscall.Errno
		switch {
		case err == nil:
			outcomes[u.name] = ""
		case errors.As(err, &errno):
			outcomes[u.name] = errno.Error()
		default:
			outcomes[u.name] = err.Error()
		}
	}
	return tell(outcomes)
}

func newFolders(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"read", "write", "other", "write/deep", "write/empty"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if name == "write/empty" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name, "old"), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := wazero.MakeCacheDir(filepath.Join(dir, "write", "cache")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "one"), []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../other/old", filepath.Join(dir, "write", "link")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFilesOfTheFirstStage(t *testing.T) {
	machine(t, confine.Landlock, confine.Seccomp)
	module, err := os.Open(guesttest.File(t, "hello"))
	if err != nil {
		t.Fatal(err)
	}
	defer module.Close()
	dir := newFolders(t)
	var outcomes map[string]string
	child{args: []string{"files", dir}, stdin: module}.run(t, &outcomes)
	for _, u := range uses() {
		t.Run(u.name, func(t *testing.T) {
			want := ""
			if u.want != 0 {
				want = u.want.Error()
			}
			if got, done := outcomes[u.name]; !done || got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	left := files(t, filepath.Join(dir, "write", "*"))
	if cached := files(t, filepath.Join(dir, "write", "cache", "*", "*")); len(cached) != 1 || len(left) != 5 {
		t.Errorf("got %v and cached %v, want cache, deep, empty, link and old, and one module", left, cached)
	}
}

// files returns the names in a folder that match a pattern.
func files(t *testing.T, pattern string) (names []string) {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range found {
		names = append(names, filepath.Base(file))
	}
	return names
}

func TestAProfileThatCannotBe(t *testing.T) {
	for name, p := range map[string]confine.Profile{
		"negative time": {CPU: -1},
	} {
		t.Run(name, func(t *testing.T) {
			if layers, err := confine.Enter(p); err == nil {
				t.Errorf("got %v, want an error", layers)
			}
		})
	}
}
