package approval_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/internal/policy"
)

var (
	digestA = "sha256:" + strings.Repeat("a", 64)
	digestB = "sha256:" + strings.Repeat("b", 64)
	digestC = "sha256:" + strings.Repeat("c", 64)
	noon    = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
)

// TestMain is also the process that writes to a store beside others.
func TestMain(m *testing.M) {
	if dir := os.Getenv("APPROVAL_TEST_WRITE"); dir != "" {
		if err := hammer(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func open(t *testing.T, dir string) *approval.Store {
	t.Helper()
	s, err := approval.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newStore(t *testing.T) (*approval.Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "approvals")
	return open(t, dir), dir
}

func record(digest string) approval.Record {
	return approval.Record{
		Digest: digest, Name: "notes", Version: "1.0.0", Origin: "/srv/notes.wasm",
		Asked: []approval.Requested{{Capability: "http", Params: `{"hosts":["a.org"]}`}, {Capability: "kv", Optional: true}},
		Policy: &policy.Policy{
			Network: []policy.Network{{Host: "a.org"}}, KV: &policy.KV{},
			Storage: []policy.Storage{{Host: "/srv", Guest: "/data", Access: policy.Write, MaxBytes: 64 << 20, MaxFiles: 100}},
		},
		When: noon, By: "ada",
	}
}

func TestStoreKeepsDecisions(t *testing.T) {
	s, dir := newStore(t)
	if _, err := s.Get(digestA); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of nothing: got %v", err)
	}
	if records, err := s.List(); len(records) > 0 || err != nil || s.Reset(digestA) != nil {
		t.Errorf("of nothing: got %+v, %v", records, err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading has made the folder: %v", err)
	}
	want := record(digestA)
	if err := s.Grant(want); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, dir).Get(digestA)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Error(diff)
	}
	later := record(digestB)
	later.When, later.Version = noon.Add(time.Hour), "1.1.0"
	if err := s.Revoke(later); err != nil {
		t.Fatal(err)
	}
	all, err := s.List()
	if err != nil || len(all) != 2 || all[0].Digest != digestB || !all[0].Revoked || !all[0].Policy.Empty() || all[1].Revoked {
		t.Errorf("list: %+v, %v", all, err)
	}
	for range 2 {
		if err := s.Reset(digestA); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Get(digestA); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after reset: got %v", err)
	}
	for _, bad := range []string{"", "sha256:", "../../etc/passwd", "sha256:" + strings.Repeat("A", 64), "sha256:../" + strings.Repeat("a", 61)} {
		if err := s.Grant(approval.Record{Digest: bad, Policy: &policy.Policy{}}); err == nil {
			t.Errorf("a record of %q is kept", bad)
		}
	}
}

func TestStoreIsPrivate(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	s, dir := newStore(t)
	if err := s.Grant(record(digestA)); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	for file, want := range map[string]fs.FileMode{dir: 0o700 | fs.ModeDir, filepath.Join(dir, entries[0].Name()): 0o600} {
		if info, err := os.Stat(file); err != nil || info.Mode() != want {
			t.Errorf("%s: mode %v, want %v, %v", file, info.Mode(), want, err)
		}
	}
	if err := os.Chmod(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	_, opening := approval.Open(dir)
	_, getting := s.Get(digestA)
	_, listing := s.List()
	for _, err := range []error{opening, getting, listing, s.Grant(record(digestB)), s.Reset(digestA)} {
		if err == nil || !strings.Contains(err.Error(), "chmod go-rwx") {
			t.Errorf("a folder for others: got %v", err)
		}
	}
}

// A file that was tampered with grants nothing, and the error says why.
func TestUntrustedRecordsAreIgnored(t *testing.T) {
	other := record(digestB)
	for name, harm := range map[string]func(t *testing.T, file string){
		"readable by others": func(t *testing.T, file string) { must(t, os.Chmod(file, 0o644)) },
		"writable by others": func(t *testing.T, file string) { must(t, os.Chmod(file, 0o602)) },
		"cut off":            func(t *testing.T, file string) { must(t, os.Truncate(file, 50)) },
		"empty":              func(t *testing.T, file string) { must(t, os.Truncate(file, 0)) },
		"huge":               func(t *testing.T, file string) { must(t, os.Truncate(file, 1<<40)) },
		"a link": func(t *testing.T, file string) {
			must(t, os.Rename(file, file+".real"), os.Symlink(filepath.Base(file)+".real", file))
		},
		"a pipe":   func(t *testing.T, file string) { must(t, os.Remove(file), syscall.Mkfifo(file, 0o600)) },
		"a folder": func(t *testing.T, file string) { must(t, os.Remove(file), os.Mkdir(file, 0o700)) },
		"of another module": func(t *testing.T, file string) {
			must(t, os.WriteFile(file, []byte(strings.ReplaceAll(read(t, file), digestA, other.Digest)), 0o600))
		},
		"a later format": func(t *testing.T, file string) {
			must(t, os.WriteFile(file, []byte(strings.Replace(read(t, file), `"format": 1`, `"format": 2`, 1)), 0o600))
		},
		"a key of ours less known": func(t *testing.T, file string) {
			must(t, os.WriteFile(file, []byte(strings.Replace(read(t, file), `"by"`, `"allow_all": true, "by"`, 1)), 0o600))
		},
		"a policy that is none": func(t *testing.T, file string) {
			must(t, os.WriteFile(file, []byte(strings.Replace(read(t, file), `host: a.org`, `hosts: a.org`, 1)), 0o600))
		},
		"of another user": func(t *testing.T, file string) {
			if os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			}
			must(t, os.Chown(file, 12345, -1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := newStore(t)
			must(t, s.Grant(record(digestA)))
			file := filepath.Join(dir, strings.TrimPrefix(digestA, "sha256:")+".approval")
			harm(t, file)
			got, err := s.Get(digestA)
			if err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "is ignored") {
				t.Errorf("got %+v, %v", got, err)
			}
			records, err := s.List()
			if len(records) != 0 || err == nil {
				t.Errorf("list: %+v, %v", records, err)
			}
			d := approval.Decide(approval.Request{Manifest: asking("http", `{"hosts":["a.org"]}`), Digest: digestA, File: file, Store: s})
			if d.Outcome != approval.Ask || d.Problem == nil {
				t.Errorf("it is decided as %v, %v", d.Outcome, d.Problem)
			}
		})
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const rounds = 60

// hammer grants, revokes and resets, over and over.
func hammer(dir string) error {
	s, err := approval.Open(dir)
	if err != nil {
		return err
	}
	for i := range rounds {
		r := record(digestA)
		r.By = strings.Repeat(fmt.Sprint(os.Getpid()), 1+i%7)
		change := []func() error{
			func() error { return s.Grant(r) }, func() error { return s.Revoke(r) }, func() error { return s.Reset(digestA) },
		}[i%3]
		if err := change(); err != nil {
			return err
		}
	}
	return nil
}

// While two processes write, a third finds a whole record or none.
func TestProcessesMayWriteAtOnce(t *testing.T) {
	s, dir := newStore(t)
	done := make(chan error, 2)
	for range 2 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "APPROVAL_TEST_WRITE="+dir)
		cmd.Stderr = os.Stderr
		must(t, cmd.Start())
		go func() { done <- cmd.Wait() }()
	}
	for writers := 2; writers > 0; {
		select {
		case err := <-done:
			writers--
			must(t, err)
		default:
			if _, err := s.Get(digestA); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if _, err := s.List(); err != nil {
				t.Fatal(err)
			}
		}
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tmp") {
			t.Errorf("%s is left behind", e.Name())
		}
	}
}

// TestFilesOfDeadWritersAreRemoved lists beside more of them than there may be records.
func TestFilesOfDeadWritersAreRemoved(t *testing.T) {
	s, dir := newStore(t)
	must(t, s.Grant(record(digestA)))
	name := strings.TrimPrefix(digestB, "sha256:") + ".approval"
	long := time.Now().Add(-2 * time.Hour)
	old := filepath.Join(dir, name+".7.0.tmp")
	must(t, os.WriteFile(old, nil, 0o600))
	must(t, os.Chtimes(old, long, long))
	for i := range 10_000 {
		must(t, os.Link(old, filepath.Join(dir, fmt.Sprintf("%s.7.%d.tmp", name, 1+i))))
	}
	kept := []string{name + ".7.new.tmp", "notes.tmp", name + ".tmp"} // being written, and none of ours
	for i, name := range kept {
		file := filepath.Join(dir, name)
		must(t, os.WriteFile(file, nil, 0o600))
		if i > 0 {
			must(t, os.Chtimes(file, long, long))
		}
	}
	for range 2 {
		records, err := s.List()
		if err != nil || len(records) != 1 || records[0].Digest != digestA {
			t.Fatalf("got %v, %v, want the one record", records, err)
		}
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 1+len(kept) {
		t.Errorf("%d files are left, want the record and %v", len(entries), kept)
	}
	for _, name := range kept {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}
