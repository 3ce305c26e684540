package fscap_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/fscap"
)

// granted makes a directory with files of all kinds and grants it as /data.
func granted(t *testing.T) capability.Services {
	t.Helper()
	outside, dir := t.TempDir(), t.TempDir()
	write(t, outside, "secret.txt", "SECRET")
	write(t, dir, "a.txt", "hello")
	write(t, dir, "sub/b.txt", "deep")
	write(t, dir, "Größe – 日本.txt", "wide")
	link(t, filepath.Join(outside, "secret.txt"), filepath.Join(dir, "absolute-link"))
	link(t, "../"+filepath.Base(outside)+"/secret.txt", filepath.Join(dir, "relative-link"))
	link(t, outside, filepath.Join(dir, "dir-link"))
	link(t, "a.txt", filepath.Join(dir, "inner-link"))
	link(t, "/dev/zero", filepath.Join(dir, "zero"))
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	fs, err := fscap.Open([]fscap.Grant{{Host: dir, Guest: "/data"}, {Host: filepath.Join(dir, "sub"), Guest: "/data/nested"}}, nil)
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

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, from string) {
	t.Helper()
	if err := os.Symlink(to, from); err != nil {
		t.Fatal(err)
	}
}

func call(t *testing.T, s capability.Services, id abi.Service, req abi.FileRequest) (abi.FileResponse, string, error) {
	t.Helper()
	resp, err := s[id].Call(t.Context(), req.Append(nil))
	var msg abi.FileResponse
	if err == nil {
		err = msg.Decode(resp.Message)
	}
	return msg, string(resp.Body), err
}

func TestReadGivesOnlyRegularFilesInsideTheGrant(t *testing.T) {
	s := granted(t)
	tests := []struct {
		path, want string
		code       abi.Code
	}{
		{"/data/a.txt", "hello", abi.CodeOK},
		{"/data/sub/b.txt", "deep", abi.CodeOK},
		{"/data/nested/b.txt", "deep", abi.CodeOK},
		{"/data/Größe – 日本.txt", "wide", abi.CodeOK},
		{"/data/inner-link", "hello", abi.CodeOK},
		{"/data/absent", "", abi.CodeNotFound},
		{"/data/absolute-link", "", abi.CodeNotFound},
		{"/data/relative-link", "", abi.CodeNotFound},
		{"/data/dir-link/secret.txt", "", abi.CodeNotFound},
		{"/data/pipe", "", abi.CodeNotFound},
		{"/data/zero", "", abi.CodeNotFound},
		{"/data/sub", "", abi.CodeInvalidParams},
		{"/data/../etc/passwd", "", abi.CodeInvalidParams},
		{"/data/sub/../../x", "", abi.CodeInvalidParams},
		{"/data//a.txt", "", abi.CodeInvalidParams},
		{"data/a.txt", "", abi.CodeInvalidParams},
		{"", "", abi.CodeInvalidParams},
		{"/data/a\x00b", "", abi.CodeNotFound},
		{"/database/a.txt", "", abi.CodeDenied},
		{"/etc/passwd", "", abi.CodeDenied},
		{"/", "", abi.CodeInvalidParams},
		{"/data/" + strings.Repeat("x", 5000), "", abi.CodeInvalidParams},
	}
	for _, tt := range tests {
		_, body, err := call(t, s, abi.ServiceFileRead, abi.FileRequest{Path: tt.path})
		if body != tt.want || abi.CodeOf(err) != tt.code {
			t.Errorf("%.60q: got %q, %v, want %q, %v", tt.path, body, err, tt.want, tt.code)
		}
		if err != nil && strings.Contains(err.Error(), os.TempDir()) {
			t.Errorf("%.60q: the public error shows a path of the host: %v", tt.path, err)
		}
	}
}

func TestReadHonoursItsRange(t *testing.T) {
	s := granted(t)
	for _, tt := range []struct {
		offset, length uint64
		want           string
	}{{0, 2, "he"}, {3, 0, "lo"}, {3, 100, "lo"}, {5, 1, ""}, {1 << 63, 1 << 63, ""}} {
		msg, body, err := call(t, s, abi.ServiceFileRead, abi.FileRequest{Path: "/data/a.txt", Offset: tt.offset, Length: tt.length})
		if body != tt.want || err != nil || msg.Files[0].Size != 5 {
			t.Errorf("%d+%d: got %q of %+v, %v, want %q", tt.offset, tt.length, body, msg.Files, err, tt.want)
		}
	}
}

func TestListsAreSortedPagedAndReadable(t *testing.T) {
	s := granted(t)
	var names []string
	req := abi.FileRequest{Path: "/data", Length: 2}
	for {
		page, _, err := call(t, s, abi.ServiceFileList, req)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Files) > 2 {
			t.Fatalf("a page of 2 has %d entries", len(page.Files))
		}
		for _, f := range page.Files {
			names = append(names, fmt.Sprintf("%s:%t:%d", f.Name, f.Dir, f.Size))
			req.After = f.Name
		}
		if !page.More {
			break
		}
	}
	want := "Größe – 日本.txt:false:4 a.txt:false:5 inner-link:false:5 sub:true:0"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A guest lists from the root of its paths, of which the operator has granted parts.
func TestDirectoriesAboveGrantsLeadToThem(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.txt", "hello")
	files, err := fscap.Open([]fscap.Grant{
		{Host: dir, Guest: "/files/docs/new"}, {Host: dir, Guest: "/files/b"}, {Host: dir, Guest: "/files/docs/old"},
		{Host: dir, Guest: "/inbox", Access: fscap.WriteOnly}, {Host: dir, Guest: "/filesystem"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	s := files.Services()
	for _, c := range []struct {
		path, after, want string
		code              abi.Code
	}{
		{"/", "", "files/ filesystem/", abi.CodeOK}, {"/files", "", "b/ docs/", abi.CodeOK},
		{"/files/docs", "", "new/ old/", abi.CodeOK}, {"/files/docs", "new", "old/", abi.CodeOK},
		{"/files/docs/new", "", "a.txt", abi.CodeOK}, {"/files/d", "", "", abi.CodeDenied},
		{"/files/docs/", "", "", abi.CodeInvalidParams}, {"/inbox", "", "", abi.CodeDenied}, {"/etc", "", "", abi.CodeDenied},
	} {
		page, _, err := call(t, s, abi.ServiceFileList, abi.FileRequest{Path: c.path, After: c.after})
		var names []string
		for _, f := range page.Files {
			if f.Dir {
				f.Name += "/"
			}
			names = append(names, f.Name)
		}
		if got := strings.Join(names, " "); got != c.want || abi.CodeOf(err) != c.code {
			t.Errorf("%s after %q: got %q, %v, want %q, %v", c.path, c.after, got, err, c.want, c.code)
		}
		stat, _, err := call(t, s, abi.ServiceFileStat, abi.FileRequest{Path: c.path})
		if abi.CodeOf(err) != c.code || err == nil && !stat.Files[0].Dir {
			t.Errorf("%s: looked at: got %+v, %v", c.path, stat.Files, err)
		}
	}
	for _, id := range []abi.Service{abi.ServiceFileWrite, abi.ServiceFileRemove} {
		if _, _, err := call(t, s, id, abi.FileRequest{Path: "/files/docs/x"}); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("service %d: got %v, want denied", id, err)
		}
	}
}

func TestStatTellsFilesFromDirectories(t *testing.T) {
	s := granted(t)
	for path, dir := range map[string]bool{"/data": true, "/data/sub": true, "/data/a.txt": false} {
		msg, _, err := call(t, s, abi.ServiceFileStat, abi.FileRequest{Path: path})
		if err != nil || len(msg.Files) != 1 || msg.Files[0].Dir != dir || msg.Files[0].ModifiedMillis == 0 {
			t.Errorf("%s: got %+v, %v, want a directory: %t", path, msg.Files, err, dir)
		}
	}
}

func TestACancelledCallDoesNothing(t *testing.T) {
	s := granted(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req := abi.FileRequest{Path: "/data/a.txt"}
	if _, err := s[abi.ServiceFileRead].Call(ctx, req.Append(nil)); abi.CodeOf(err) != abi.CodeCancelled {
		t.Errorf("got %v, want cancelled", err)
	}
}

func TestMalformedRequestsAreRefused(t *testing.T) {
	for id, service := range granted(t) {
		if _, err := service.Call(t.Context(), []byte{0xff}); abi.CodeOf(err) != abi.CodeProtocol {
			t.Errorf("service %d: got %v, want a protocol error", id, err)
		}
	}
}

func TestGrantsAreChecked(t *testing.T) {
	dir := t.TempDir()
	for name, grants := range map[string][]fscap.Grant{
		"absent host":    {{Host: filepath.Join(dir, "absent"), Guest: "/data"}},
		"relative guest": {{Host: dir, Guest: "data"}},
		"unclean guest":  {{Host: dir, Guest: "/data/../etc"}},
		"granted twice":  {{Host: dir, Guest: "/data"}, {Host: dir, Guest: "/data"}},
	} {
		if _, err := fscap.Open(grants, nil); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
