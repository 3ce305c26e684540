package blobs_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/wasmres/wasmres/internal/blobs"
	"github.com/wasmres/wasmres/internal/childtest"
	"github.com/wasmres/wasmres/internal/hosttest"
)

func TestMain(m *testing.M) {
	var err error
	switch role := childtest.Role(); role {
	case "churn":
		err = churn(os.Args[1])
	case "steps":
		err = addSome(os.Args[1])
	case "overflow":
		err = overflow(os.Args[1])
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func open(t testing.TB, dir string) *blobs.Store {
	t.Helper()
	s, err := blobs.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func add(t testing.TB, s *blobs.Store, text string) *blobs.Blob {
	t.Helper()
	b, err := s.Add(t.Context(), strings.NewReader(text), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestABlobStaysAsItWasPushed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "blobs")
	b := add(t, open(t, dir), "a module")
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte("a module"))); b.Digest != want || b.Size != 8 {
		t.Errorf("got %+v", b)
	}
	again, err := open(t, dir).Open(b.Digest)
	if err != nil || again.Size != 8 || again.File != b.File {
		t.Fatalf("got %+v, %v", again, err)
	}
	if text, err := os.ReadFile(again.File); err != nil || string(text) != "a module" {
		t.Errorf("got %q, %v", text, err)
	}
	if info, err := os.Stat(again.File); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	for _, digest := range []string{"", "sha256:", "sha256:" + strings.Repeat("0", 64), "sha256:../../../etc/passwd" + strings.Repeat("0", 45)} {
		if _, err := open(t, dir).Open(digest); !errors.Is(err, blobs.ErrNotFound) {
			t.Errorf("%s: got %v", digest, err)
		}
	}
}

func TestABlobIsBounded(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if b, err := s.Add(t.Context(), strings.NewReader("four"), 4); err != nil || b.Size != 4 {
		t.Errorf("got %+v, %v", b, err)
	}
	if _, err := s.Add(t.Context(), io.MultiReader(strings.NewReader("five"), rand.Reader), 4); !errors.Is(err, blobs.ErrTooLarge) {
		t.Errorf("an endless body: got %v", err)
	}
	broken := errors.New("the client has gone")
	if _, err := s.Add(t.Context(), io.MultiReader(strings.NewReader("five"), &failing{broken}), 99); !errors.Is(err, broken) {
		t.Errorf("a body that is cut: got %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Add(ended, strings.NewReader("five"), 99); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that has ended: got %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "ingest")); err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// A file that was changed, before or after it was verified, is not run; the same module, pushed again, replaces it.
func TestDamageIsRefused(t *testing.T) {
	for name, damage := range map[string]func(file string) error{
		"cut":         func(file string) error { return os.Truncate(file, 3) },
		"empty":       func(file string) error { return os.Truncate(file, 0) },
		"changed":     func(file string) error { return os.WriteFile(file, []byte("b module"), 0o600) },
		"a folder":    func(file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) },
		"other bytes": func(file string) error { return os.WriteFile(file, []byte("another module"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, t.TempDir())
			b := add(t, s, "a module")
			if err := damage(b.File); err != nil {
				t.Fatal(err)
			}
			var damaged *blobs.DamagedError
			if _, err := s.Open(b.Digest); !errors.As(err, &damaged) || damaged.File != b.File || !strings.Contains(err.Error(), "push the module again") {
				t.Fatalf("got %v", err)
			}
			if name == "a folder" {
				return
			}
			add(t, s, "a module")
			if _, err := s.Open(b.Digest); err != nil {
				t.Errorf("pushed again: %v", err)
			}
		})
	}
}

func TestWhatNothingNamesIsRemoved(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	named, used, neither := add(t, s, "named"), add(t, s, "used"), add(t, s, "neither")
	named.Release()
	neither.Release()
	neither.Release()
	keep := func() map[string]bool { return map[string]bool{named.Digest: true} }
	if n, err := s.Keep(keep); n != 1 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	for _, b := range []*blobs.Blob{named, used} {
		if _, err := s.Open(b.Digest); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Open(neither.Digest); !errors.Is(err, blobs.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if n, err := open(t, dir).Keep(keep); n != 1 || err != nil { // after a restart, nothing is in use
		t.Errorf("removed %d, %v", n, err)
	}
}

// Blobs are added, named and removed at the same time: what is named is there.
func TestManyAddAndRemove(t *testing.T) {
	s := open(t, t.TempDir())
	var mu sync.Mutex
	named := map[string]bool{}
	names := func() map[string]bool {
		mu.Lock()
		defer mu.Unlock()
		all := map[string]bool{}
		for digest := range named {
			all[digest] = true
		}
		return all
	}
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for i := range 30 {
				b, err := s.Add(t.Context(), strings.NewReader(fmt.Sprint("module ", i)), 99)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				named[b.Digest] = true
				mu.Unlock()
				b.Release()
			}
		})
		running.Go(func() {
			for range 30 {
				if _, err := s.Keep(names); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	for digest := range named {
		if b, err := s.Open(digest); err != nil {
			t.Error(err)
		} else {
			b.Release()
		}
	}
}

// churn adds blobs until it is killed, and prints the digest of each that is on disk.
func churn(dir string) error {
	s, err := blobs.Open(dir, nil)
	if err != nil {
		return err
	}
	for i := os.Getpid() << 20; ; i++ {
		b, err := s.Add(context.Background(), bytes.NewReader(bytes.Repeat(fmt.Appendf(nil, "%020d", i), 5000)), 1<<20)
		if err != nil {
			return err
		}
		fmt.Println(b.Digest)
	}
}

// A process is killed while it adds blobs: those that it has acknowledged are there, and whole; no other file stays.
func TestKilledProcessesLeaveWholeBlobs(t *testing.T) {
	dir := t.TempDir()
	times := hosttest.Size(10, 200)
	if testing.Short() {
		times = 3
	}
	for i := range times {
		process, output, end := childtest.Start(t, "churn", dir)
		lines := bufio.NewScanner(output)
		var acknowledged []string
		for lines.Scan() {
			if acknowledged = append(acknowledged, lines.Text()); len(acknowledged) == i%10+1 {
				_ = process.Kill() // its output until then is read to the end
			}
		}
		end()
		s := open(t, dir)
		for _, digest := range acknowledged {
			if _, err := s.Open(digest); err != nil {
				t.Error(err)
			}
		}
		if left, err := os.ReadDir(filepath.Join(dir, "ingest")); err != nil || len(left) != 0 {
			t.Errorf("left are %v, %v", left, err)
		}
		all, err := os.ReadDir(filepath.Join(dir, "sha256"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range all { // also one that was not acknowledged any more
			if _, err := s.Open("sha256:" + file.Name()); err != nil {
				t.Error(err)
			}
		}
	}
}

// someBlobs are added one after the other; the last replaces the first.
var someBlobs = []string{strings.Repeat("first ", 20_000), "second", strings.Repeat("first ", 20_000)}

// addSome adds blobs, notes each that was acknowledged, and removes the second.
func addSome(dir string) error {
	s, err := blobs.Open(filepath.Join(dir, "blobs"), nil)
	if err != nil {
		return err
	}
	acknowledged, err := os.Create(filepath.Join(dir, "acknowledged"))
	if err != nil {
		return err
	}
	for _, text := range someBlobs {
		b, err := s.Add(context.Background(), strings.NewReader(text), 1<<20)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(acknowledged, b.Digest); err != nil {
			return err
		}
		b.Release()
	}
	first := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(someBlobs[0])))
	_, err = s.Keep(func() map[string]bool { return map[string]bool{first: true} })
	return err
}

// A process is killed before each of its changes of a file: what it has acknowledged is there, and whole, and so is all else.
func TestKilledAtEachStep(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a process for each step")
	}
	first := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(someBlobs[0])))
	prepare := func() string { return t.TempDir() }
	kills := childtest.KillAtEachStep(t, "steps", 1, prepare, func(dir, step string) {
		s := open(t, filepath.Join(dir, "blobs"))
		acknowledged, err := os.ReadFile(filepath.Join(dir, "acknowledged"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		all, err := os.ReadDir(filepath.Join(dir, "blobs", "sha256"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range all {
			if _, err := s.Open("sha256:" + file.Name()); err != nil {
				t.Errorf("%s: %v", step, err)
			}
		}
		if left, err := os.ReadDir(filepath.Join(dir, "blobs", "ingest")); err != nil || len(left) != 0 {
			t.Errorf("%s: left are %v, %v", step, left, err)
		}
		if _, err := s.Open(first); err != nil && strings.Contains(string(acknowledged), first) {
			t.Errorf("%s: %v", step, err)
		}
		if want := strings.Count(string(acknowledged), "\n"); want == 2 && len(all) != 2 {
			t.Errorf("%s: two were acknowledged, %d are there", step, len(all))
		}
		add(t, s, "another").Release() // it can go on
	})
	if kills < 10 {
		t.Errorf("%d children were killed", kills)
	}
	t.Logf("%d children were killed", kills)
}

// overflow adds a blob where files cannot grow; then there is room again.
func overflow(dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	s, err := blobs.Open(dir, nil)
	if err != nil {
		return err
	}
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	limit := syscall.Rlimit{Cur: 64 << 10, Max: before.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	text := bytes.Repeat([]byte("module "), 20_000)
	if _, err := s.Add(context.Background(), bytes.NewReader(text), 1<<20); !errors.Is(err, blobs.ErrFull) {
		return fmt.Errorf("on a full disk: %w", err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	_, err = s.Add(context.Background(), bytes.NewReader(text), 1<<20)
	return err
}

func TestAFullDiskIsSaid(t *testing.T) {
	dir := t.TempDir()
	_, output, end := childtest.Start(t, "overflow", dir)
	_, _ = io.Copy(io.Discard, output)
	end()
	if left, err := os.ReadDir(filepath.Join(dir, "ingest")); err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
