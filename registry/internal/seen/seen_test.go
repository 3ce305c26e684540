package seen_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/registry/internal/oci"
	"github.com/wasmres/wasmres/registry/internal/seen"
)

const repository = "ghcr.io/ada/notes"

func at(minute int) seen.Version {
	return seen.Version{
		Created: time.Date(2026, 11, 20, 12, minute, 0, 0, time.UTC), Digest: oci.DigestOf([]byte{byte(minute)}),
	}
}

func newest(t *testing.T, s *seen.Store, keys ...string) seen.Version {
	t.Helper()
	v, err := s.Newest(repository, keys...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func add(t *testing.T, s *seen.Store, v seen.Version, keys ...string) {
	t.Helper()
	if err := s.Add(context.Background(), repository, v, keys...); err != nil {
		t.Error(err)
	}
}

func TestTheNewestVersionIsRemembered(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s := seen.Open(dir)
	if v := newest(t, s, "a"); v != (seen.Version{}) {
		t.Errorf("of nothing: %v", v)
	}
	add(t, s, at(2), "a", "b")
	add(t, s, at(1), "a")
	add(t, s, at(3), "b")
	add(t, s, seen.Version{Digest: at(0).Digest}, "a")
	again := seen.Open(dir)
	for keys, want := range map[string]seen.Version{"a": at(2), "b": at(3), "a b": at(3), "c": {}} {
		if got := newest(t, again, strings.Fields(keys)...); got != want {
			t.Errorf("%s: %v, want %v", keys, got, want)
		}
	}
	if v, err := s.Newest("ghcr.io/eve/notes", "a"); err != nil || v != (seen.Version{}) {
		t.Errorf("of another repository: %v, %v", v, err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestWritersAtOnceLoseNothing(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for minute := range 20 {
		all.Go(func() { add(t, seen.Open(dir), at(minute), "a") })
	}
	all.Wait()
	if got := newest(t, seen.Open(dir), "a"); got != at(19) {
		t.Errorf("%v", got)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "new-*")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestADamagedFileIsNoPermission(t *testing.T) {
	dir := t.TempDir()
	s := seen.Open(dir)
	add(t, s, at(1), "a")
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	for name, text := range map[string]string{
		"empty": "", "half": `{"repository":"gh`, "of another repository": `{"repository":"x","key":"a","created":"2026-11-20T12:00:00Z"}`,
		"without a time": `{"repository":"ghcr.io/ada/notes","key":"a"}`, "huge": strings.Repeat(" ", 9000),
	} {
		if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if v, err := s.Newest(repository, "a"); err == nil || !strings.Contains(err.Error(), files[0]) {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
}
