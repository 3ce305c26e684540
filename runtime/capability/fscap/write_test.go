package fscap_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/fscap"
)

// open grants a directory as /data.
func open(t *testing.T, g fscap.Grant) capability.Services {
	t.Helper()
	g.Guest = "/data"
	fs, err := fscap.Open([]fscap.Grant{g}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fs.Close(); err != nil {
			t.Error(err)
		}
	})
	return fs.Services()
}

func put(t *testing.T, s capability.Services, path, text string) error {
	t.Helper()
	msg, _, err := call(t, s, abi.ServiceFileWrite, abi.FileRequest{Path: path, Data: []byte(text)})
	if err == nil && (msg.Files[0].Size != uint64(len(text)) || msg.Files[0].Name != filepath.Base(path)) {
		t.Errorf("%s: got %+v", path, msg.Files)
	}
	return err
}

func content(t *testing.T, elements ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

func TestWrites(t *testing.T) {
	dir := t.TempDir()
	s := open(t, fscap.Grant{Host: dir, Access: fscap.ReadWrite})
	for _, text := range []string{"one", "another, which is longer", ""} {
		if err := put(t, s, "/data/a/b/c.txt", text); err != nil || content(t, dir, "a/b/c.txt") != text {
			t.Errorf("%q: %v", text, err)
		}
	}
	for i := range 3 {
		req := abi.FileRequest{Path: "/data/log.txt", Data: fmt.Appendln(nil, i), Appends: true}
		if _, _, err := call(t, s, abi.ServiceFileWrite, req); err != nil {
			t.Error(err)
		}
	}
	if got := content(t, dir, "log.txt"); got != "0\n1\n2\n" {
		t.Errorf("got %q", got)
	}
	if info, err := os.Stat(filepath.Join(dir, "log.txt")); err != nil || info.Mode()&0o133 != 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for _, path := range []string{"/data/a/b/c.txt", "/data/a/b", "/data/a"} {
		if _, _, err := call(t, s, abi.ServiceFileRemove, abi.FileRequest{Path: path}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("got %v, %v: something is left", entries, err)
	}
}

func TestWritesOutsideAGrantAreRefused(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	write(t, outside, "victim.txt", "as it was")
	write(t, dir, "sub/b.txt", "deep")
	write(t, dir, "locked/c.txt", "locked")
	link(t, filepath.Join(outside, "victim.txt"), filepath.Join(dir, "link.txt"))
	link(t, filepath.Join(outside, "new.txt"), filepath.Join(dir, "dangling"))
	link(t, outside, filepath.Join(dir, "dir-link"))
	link(t, "/dev/null", filepath.Join(dir, "null"))
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, fscap.Grant{Host: dir, Access: fscap.ReadWrite})
	for _, tt := range []struct {
		path                    string
		replace, append, remove abi.Code
	}{
		{"/data/dir-link/victim.txt", abi.CodeInvalidParams, abi.CodeInvalidParams, abi.CodeInvalidParams},
		{"/data/dir-link/new.txt", abi.CodeInvalidParams, abi.CodeInvalidParams, abi.CodeInvalidParams},
		{"/data/sub", abi.CodeInvalidParams, abi.CodeInvalidParams, abi.CodeInvalidParams}, // it is not empty
		{"/data/sub/b.txt/x", abi.CodeInvalidParams, abi.CodeInvalidParams, abi.CodeInvalidParams},
		{"/data", abi.CodeInvalidParams, abi.CodeInvalidParams, abi.CodeInvalidParams},
		{"/data/../x", abi.CodeInvalidParams, abi.CodeInvalidParams, abi.CodeInvalidParams},
		{"/etc/passwd", abi.CodeDenied, abi.CodeDenied, abi.CodeDenied},
		{"/data/" + strings.Repeat("x", 300), abi.CodeInvalidParams, abi.CodeInvalidParams, abi.CodeInvalidParams},
		{"/data/.wasmres-draft", abi.CodeInvalidParams, abi.CodeInvalidParams, abi.CodeInvalidParams},
		{"/data/x\ny", abi.CodeInvalidParams, abi.CodeInvalidParams, abi.CodeInvalidParams},
		{"/data/" + strings.Repeat("d/", 64) + "x", abi.CodeInvalidParams, abi.CodeInvalidParams, abi.CodeInvalidParams},
		{"/data/x\x00y", abi.CodeInvalidParams, abi.CodeInvalidParams, abi.CodeInvalidParams},
		{"/data/absent", abi.CodeOK, abi.CodeOK, abi.CodeOK},
		{"/data/pipe", abi.CodeInvalidParams, abi.CodeInvalidParams, abi.CodeNotFound},
	} {
		req := abi.FileRequest{Path: tt.path, Data: []byte("written"), Appends: true}
		if _, _, err := call(t, s, abi.ServiceFileWrite, req); abi.CodeOf(err) != tt.append {
			t.Errorf("append to %.40q: got %v, want %v", tt.path, err, tt.append)
		}
		req.Appends = false
		if _, _, err := call(t, s, abi.ServiceFileWrite, req); abi.CodeOf(err) != tt.replace {
			t.Errorf("write %.40q: got %v, want %v", tt.path, err, tt.replace)
		}
		if _, _, err := call(t, s, abi.ServiceFileRemove, abi.FileRequest{Path: tt.path}); abi.CodeOf(err) != tt.remove {
			t.Errorf("remove %.40q: got %v, want %v", tt.path, err, tt.remove)
		} else if err != nil && strings.Contains(err.Error(), os.TempDir()) {
			t.Errorf("remove %.40q: the public error shows a path of the host: %v", tt.path, err)
		}
	}
	// Links that lead out are not followed: a file takes their place.
	for _, name := range []string{"link.txt", "dangling", "null"} {
		req := abi.FileRequest{Path: "/data/" + name, Data: []byte("written"), Appends: true}
		if _, _, err := call(t, s, abi.ServiceFileWrite, req); err == nil {
			t.Errorf("something was appended to %s", name)
		}
		if err := put(t, s, "/data/"+name, "written"); err != nil || content(t, dir, name) != "written" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := content(t, outside, "victim.txt"); got != "as it was" {
		t.Errorf("outside there is %q", got)
	}
	if _, err := os.Stat(filepath.Join(outside, "new.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was made outside: %v", err)
	}
}

func TestAccessIsWhatWasGranted(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.txt", "hello")
	for access, want := range map[fscap.Access]struct{ read, write abi.Code }{
		fscap.ReadOnly:  {abi.CodeOK, abi.CodeDenied},
		fscap.ReadWrite: {abi.CodeOK, abi.CodeOK},
		fscap.WriteOnly: {abi.CodeDenied, abi.CodeOK},
	} {
		s := open(t, fscap.Grant{Host: dir, Access: access})
		for _, service := range []abi.Service{abi.ServiceFileRead, abi.ServiceFileStat} {
			if _, _, err := call(t, s, service, abi.FileRequest{Path: "/data/a.txt"}); abi.CodeOf(err) != want.read {
				t.Errorf("access %d: reading gives %v", access, err)
			}
		}
		if _, _, err := call(t, s, abi.ServiceFileList, abi.FileRequest{Path: "/data"}); abi.CodeOf(err) != want.read {
			t.Errorf("access %d: listing gives %v", access, err)
		}
		if err := put(t, s, "/data/b.txt", "x"); abi.CodeOf(err) != want.write {
			t.Errorf("access %d: writing gives %v", access, err)
		}
		if _, _, err := call(t, s, abi.ServiceFileRemove, abi.FileRequest{Path: "/data/b.txt"}); abi.CodeOf(err) != want.write {
			t.Errorf("access %d: removing gives %v", access, err)
		}
	}
}

func TestTheQuotaIsKept(t *testing.T) {
	dir := t.TempDir()
	s := open(t, fscap.Grant{Host: dir, Access: fscap.ReadWrite, MaxBytes: 100, MaxFiles: 3})
	refused := func(path string, size int, appends bool) bool {
		req := abi.FileRequest{Path: path, Data: make([]byte, size), Appends: appends}
		_, _, err := call(t, s, abi.ServiceFileWrite, req)
		if err != nil && abi.CodeOf(err) != abi.CodeTooLarge {
			t.Errorf("%s: %v", path, err)
		}
		return err != nil
	}
	for i, step := range []struct {
		path    string
		size    int
		appends bool
		refused bool
	}{
		{"/data/a", 60, false, false},
		{"/data/a", 60, false, false}, // replaces the first
		{"/data/a", 41, true, true},
		{"/data/a", 40, true, false},
		{"/data/b", 1, false, true},
		{"/data/a", 10, false, false},
		{"/data/b/c", 90, false, false},
		{"/data/d", 0, false, true}, // the fourth, with the directory
	} {
		if got := refused(step.path, step.size, step.appends); got != step.refused {
			t.Errorf("step %d: refused: %t", i, got)
		}
	}
	for _, path := range []string{"/data/b/c", "/data/b"} {
		if _, _, err := call(t, s, abi.ServiceFileRemove, abi.FileRequest{Path: path}); err != nil {
			t.Error(err)
		}
	}
	if refused("/data/d", 90, false) {
		t.Error("what was removed still counts")
	}
}

// A concurrent reader sees one whole text, and no appended text is lost.
func TestWritingAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	s := open(t, fscap.Grant{Host: dir, Access: fscap.ReadWrite})
	if err := put(t, s, "/data/whole", strings.Repeat("a", 10_000)); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 10 {
				if err := put(t, s, "/data/whole", strings.Repeat(string(rune('a'+i)), 10_000)); err != nil {
					t.Error(err)
				}
				req := abi.FileRequest{Path: "/data/log", Data: []byte("line\n"), Appends: true}
				if _, _, err := call(t, s, abi.ServiceFileWrite, req); err != nil {
					t.Error(err)
				}
				got := content(t, dir, "whole")
				if len(got) != 10_000 || bytes.Count([]byte(got), []byte(got[:1])) != 10_000 {
					t.Errorf("got %d bytes, of more than one text", len(got))
				}
			}
		})
	}
	all.Wait()
	if got := content(t, dir, "log"); got != strings.Repeat("line\n", 80) {
		t.Errorf("got %d bytes", len(got))
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("got %v, %v: something is left", entries, err)
	}
}

// Several providers may be granted the same directory, at one guest path or several.
func TestSeveralWritersOfOneDirectory(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 4 {
		s := open(t, fscap.Grant{Host: dir, Access: fscap.ReadWrite})
		all.Go(func() {
			name := fmt.Sprint("file-", i)
			for n := range 30 {
				text := strings.Repeat(name, n)
				if err := put(t, s, "/data/"+name, text); err != nil || content(t, dir, name) != text {
					t.Errorf("%s: %v, or another text", name, err)
				}
			}
		})
	}
	all.Wait()
}

func TestTheQuotaHoldsForConcurrentWrites(t *testing.T) {
	const size, most = 100, 1000
	dir := t.TempDir()
	s := open(t, fscap.Grant{Host: dir, Access: fscap.ReadWrite, MaxBytes: most})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 50 {
				for _, req := range []abi.FileRequest{
					{Path: "/data/shared", Data: make([]byte, size*(n%2))},
					{Path: fmt.Sprintf("/data/%d-%d", i, n), Data: make([]byte, size)},
				} {
					if _, _, err := call(t, s, abi.ServiceFileWrite, req); err != nil && abi.CodeOf(err) != abi.CodeTooLarge {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			total += info.Size()
		}
	}
	if total > most {
		t.Errorf("%d bytes are there, of %d", total, most)
	}
}

func TestAFileStaysAsPrivateAsItWas(t *testing.T) {
	dir := t.TempDir()
	s := open(t, fscap.Grant{Host: dir, Access: fscap.ReadWrite})
	for mode, want := range map[os.FileMode]os.FileMode{0o600: 0o600, 0o640: 0o640, 0o755: 0o644} {
		file := filepath.Join(dir, "a.txt")
		if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
		if err := put(t, s, "/data/a.txt", "x"); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode() != want {
			t.Errorf("of %v: got %v, %v, want %v", mode, info.Mode(), err, want)
		}
	}
}

// Guests cannot append to executable files, nor to files with another name.
func TestSharedFilesAreNotAppendedTo(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	write(t, outside, "other-name", "as it was")
	write(t, dir, "run.sh", "as it was")
	if err := errors.Join(os.Link(filepath.Join(outside, "other-name"), filepath.Join(dir, "linked")), os.Chmod(filepath.Join(dir, "run.sh"), 0o755)); err != nil {
		t.Fatal(err)
	}
	s := open(t, fscap.Grant{Host: dir, Access: fscap.ReadWrite})
	for _, name := range []string{"linked", "run.sh"} {
		req := abi.FileRequest{Path: "/data/" + name, Data: []byte("more"), Appends: true}
		if _, _, err := call(t, s, abi.ServiceFileWrite, req); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("%s: %v", name, err)
		}
		if got := content(t, dir, name); got != "as it was" {
			t.Errorf("%s has %q", name, got)
		}
		if err := put(t, s, "/data/"+name, "another"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := content(t, outside, "other-name"); got != "as it was" {
		t.Errorf("outside there is %q", got)
	}
}

func TestWriteOnlyAnswersHideTheFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.txt", "a secret of some length")
	s := open(t, fscap.Grant{Host: dir, Access: fscap.WriteOnly})
	msg, _, err := call(t, s, abi.ServiceFileWrite, abi.FileRequest{Path: "/data/a.txt", Appends: true})
	if want := (abi.File{Name: "a.txt"}); err != nil || len(msg.Files) != 1 || msg.Files[0] != want {
		t.Errorf("got %+v, %v", msg.Files, err)
	}
}

// A file that is being written is not visible.
func TestTemporaryFilesAreHidden(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, ".wasmres-draft", "half of")
	s := open(t, fscap.Grant{Host: dir, Access: fscap.ReadWrite})
	if _, _, err := call(t, s, abi.ServiceFileRead, abi.FileRequest{Path: "/data/.wasmres-draft"}); abi.CodeOf(err) != abi.CodeNotFound {
		t.Errorf("reading: %v", err)
	}
	if page, _, err := call(t, s, abi.ServiceFileList, abi.FileRequest{Path: "/data"}); err != nil || len(page.Files) != 0 {
		t.Errorf("listing: %+v, %v", page.Files, err)
	}
}
