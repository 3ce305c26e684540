package sqlitekv_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/kvcap"
	"github.com/wasmres/wasmres/runtime/capability/kvcap/sqlitekv"
)

func put(t *testing.T, s kvcap.Store, p kvcap.Put) abi.KVEntry {
	t.Helper()
	entry, err := s.Put(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return entry
}

func TestValuesOutliveTheStore(t *testing.T) {
	dir := private(t)
	s := open(t, dir, kvcap.Quota{}, nil)
	entry := put(t, s, kvcap.Put{Key: "k", Value: []byte("v")})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, kvcap.Quota{}, nil)
	if got, value, err := s.Get(t.Context(), "k"); got != entry || string(value) != "v" || err != nil {
		t.Errorf("got %+v, %q, %v; want %+v", got, value, err, entry)
	}
	if again := put(t, s, kvcap.Put{Key: "k"}); again.Version <= entry.Version {
		t.Errorf("version %d follows %d", again.Version, entry.Version)
	}
}

func TestAStoreOverItsQuotaCanShrink(t *testing.T) {
	dir := private(t)
	s := open(t, dir, kvcap.Quota{}, nil)
	for _, key := range []string{"a", "b", "c"} {
		put(t, s, kvcap.Put{Key: key, Value: []byte("12345678")})
	}
	lowered := open(t, dir, kvcap.Quota{MaxKeys: 2, MaxBytes: 10}, nil)
	put(t, lowered, kvcap.Put{Key: "a", Value: []byte("1234")})
	_, err := lowered.Put(t.Context(), kvcap.Put{Key: "a", Value: []byte("12345")})
	if abi.CodeOf(err) != abi.CodeTooLarge {
		t.Errorf("further over the quota: got %v", err)
	}
	if _, err := lowered.Put(t.Context(), kvcap.Put{Key: "d"}); abi.CodeOf(err) != abi.CodeTooLarge {
		t.Errorf("a key more: got %v", err)
	}
}

func TestExpiredValuesAreRemovedFromTheFile(t *testing.T) {
	dir := private(t)
	synctest.Test(t, func(t *testing.T) {
		s, err := sqlitekv.Open(t.Context(), sqlitekv.Config{Dir: dir, Namespace: notes})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 150 {
			put(t, s, kvcap.Put{Key: fmt.Sprint("key/", i), TTL: time.Hour})
		}
		time.Sleep(time.Hour - time.Millisecond)
		if _, _, err := s.Get(t.Context(), "key/0"); err != nil {
			t.Errorf("before it expires: %v", err)
		}
		time.Sleep(time.Millisecond)
		if _, _, err := s.Get(t.Context(), "key/0"); !errors.Is(err, kvcap.ErrNotFound) {
			t.Errorf("after it has expired: %v", err)
		}
		put(t, s, kvcap.Put{Key: "new"})
		recount(t, dir, 51) // a change removes some
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if s, err = sqlitekv.Open(t.Context(), sqlitekv.Config{Dir: dir, Namespace: notes}); err != nil {
			t.Fatal(err)
		}
		recount(t, dir, 1) // and opening all
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestNamespacesShareNothing(t *testing.T) {
	dir := private(t)
	namespaces := []kvcap.Namespace{
		{Provider: "notes"}, {Provider: "Notes"}, {Provider: "../notes"}, {Provider: "../../../../tmp/notes"},
		{Tenant: "a", Provider: "bc"}, {Tenant: "ab", Provider: "c"}, {Provider: "abc"}, {Provider: "."},
		{Tenant: "a", Provider: "b/c"}, {Tenant: "a/b", Provider: "c"}, {Provider: "a/b/c"}, {Tenant: "notes", Provider: "notes"},
		{Provider: "a?mode=memory"}, {Provider: strings.Repeat("日", 80)},
		{Provider: "notes.sqlite"}, {Tenant: "..", Provider: "%2e%2e/x"},
	}
	for _, n := range namespaces {
		s, err := sqlitekv.Open(t.Context(), sqlitekv.Config{Dir: dir, Namespace: n})
		if err != nil {
			t.Fatalf("%+v: %v", n, err)
		}
		if u, err := s.Usage(t.Context()); u.Keys != 0 || err != nil {
			t.Errorf("%+v has values of others: %+v, %v", n, u, err)
		}
		put(t, s, kvcap.Put{Key: "k"})
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(namespaces) {
		t.Errorf("%d files for %d namespaces: %v, %v", len(entries), len(namespaces), entries, err)
	}
	for _, n := range []kvcap.Namespace{
		{}, {Tenant: "t"}, {Provider: "a\nb"}, {Provider: "a\x00"}, {Provider: "\xff"}, {Provider: strings.Repeat("x", 257)},
	} {
		if _, err := sqlitekv.Open(t.Context(), sqlitekv.Config{Dir: dir, Namespace: n}); err == nil {
			t.Errorf("%+v is opened", n)
		}
	}
}

// A later version must find the stores of an earlier one: the file name of a namespace never changes.
func TestFilesKeepTheirNames(t *testing.T) {
	for want, n := range map[string]kvcap.Namespace{
		"notes-107dcd2019d01d6a07fe439d78a76d2a.sqlite":           {Provider: "notes"},
		"_srv_notes_wasm-a3aa9fa23d9ebff7aabab9dd1bda8e7e.sqlite": {Provider: "/srv/notes.wasm"},
		"b_c-ec8e7619fc9ce8faba8b32776f8c5a78.sqlite":             {Tenant: "a", Provider: "b/c"},
	} {
		dir := private(t)
		s, err := sqlitekv.Open(t.Context(), sqlitekv.Config{Dir: dir, Namespace: n})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != want {
			t.Errorf("%+v: got %v, %v; want %s", n, entries, err, want)
		}
	}
}

// Providers of one tenant share nothing, nor does one provider of several tenants.
func TestNamespacesHaveTheirOwnQuotaAndTime(t *testing.T) {
	dir := private(t)
	clock := time.Unix(1_000_000, 0)
	open := func(tenant, provider string) kvcap.Store {
		s, err := sqlitekv.Open(t.Context(), sqlitekv.Config{
			Dir: dir, Namespace: kvcap.Namespace{Tenant: tenant, Provider: provider},
			Quota: kvcap.Quota{MaxKeys: 2, MaxBytes: 20}, Now: func() time.Time { return clock },
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	full, others := open("a", "notes"), []kvcap.Store{open("b", "notes"), open("a", "mail"), open("", "notes")}
	put(t, full, kvcap.Put{Key: "k", Value: []byte("0123456789"), TTL: time.Second})
	put(t, full, kvcap.Put{Key: "l", Value: []byte("01234567")})
	if _, err := full.Put(t.Context(), kvcap.Put{Key: "m"}); abi.CodeOf(err) != abi.CodeTooLarge {
		t.Errorf("over its quota: got %v", err)
	}
	for i, s := range others {
		put(t, s, kvcap.Put{Key: "k", Value: []byte("of another"), TTL: time.Hour})
		put(t, s, kvcap.Put{Key: "m", Value: []byte("too"), IfAbsent: true})
		if u, err := s.Usage(t.Context()); u != (kvcap.Usage{Keys: 2, Bytes: 15}) || err != nil {
			t.Errorf("%d: got %+v, %v", i, u, err)
		}
	}
	clock = clock.Add(time.Minute)
	if _, _, err := full.Get(t.Context(), "k"); !errors.Is(err, kvcap.ErrNotFound) {
		t.Errorf("an expired value: got %v", err)
	}
	if _, err := full.Delete(t.Context(), "l", 0); err != nil {
		t.Error(err)
	}
	for i, s := range others {
		if _, value, err := s.Get(t.Context(), "k"); string(value) != "of another" || err != nil {
			t.Errorf("%d: got %q, %v", i, value, err)
		}
		if entries, _, err := s.List(t.Context(), "", "", 10); len(entries) != 2 || err != nil {
			t.Errorf("%d: got %+v, %v", i, entries, err)
		}
	}
}

func TestFilesArePrivate(t *testing.T) {
	dir := private(t) + "/be low?#%20"
	s := open(t, dir, kvcap.Quota{}, nil)
	put(t, s, kvcap.Put{Key: "k", Value: []byte("v")})
	found := 0
	err := filepath.Walk(filepath.Dir(dir), func(name string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		found++
		return err
	})
	if err != nil || found != 5 { // two directories; the file, its log and the index of the log
		t.Errorf("found %d files, %v", found, err)
	}
}

// refuses checks that opening a store fails with reason, and does not change the file.
func refuses(t *testing.T, dir, reason string) {
	t.Helper()
	name := file(t, dir)
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = sqlitekv.Open(t.Context(), sqlitekv.Config{Dir: dir, Namespace: notes})
	if err == nil || !strings.Contains(err.Error(), reason) || !strings.Contains(err.Error(), dir) {
		t.Errorf("got %v, want %q and the name of the file", err, reason)
	}
	if after, err := os.ReadFile(name); !bytes.Equal(before, after) || err != nil {
		t.Errorf("the file was changed, %v", err)
	}
}

// closed makes a store with some values, closes it, and gives its directory.
func closed(t *testing.T) (dir string) {
	t.Helper()
	dir = private(t)
	s := open(t, dir, kvcap.Quota{}, nil)
	for i := range 200 {
		put(t, s, kvcap.Put{Key: fmt.Sprint("key/", i), Value: make([]byte, 500)})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestADamagedFileIsReportedAndKept(t *testing.T) {
	dir := closed(t)
	if err := os.WriteFile(file(t, dir), bytes.Repeat([]byte("garbage "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(t, dir, "damaged")
}

func TestAPageThatIsDamagedIsReported(t *testing.T) {
	dir := closed(t)
	f, err := os.OpenFile(file(t, dir), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	const tables = 10 * 4096 // the schema is stored before
	_, err = f.WriteAt(bytes.Repeat([]byte{0xaa}, int(info.Size()-tables)), tables)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, kvcap.Quota{}, nil)
	failed := 0
	for i := range 200 {
		_, _, err := s.Get(t.Context(), fmt.Sprint("key/", i))
		if err == nil || errors.Is(err, kvcap.ErrNotFound) {
			continue
		}
		failed++
		cause := errors.Unwrap(err)
		if abi.CodeOf(err) != abi.CodeInternal || strings.Contains(err.Error(), dir) ||
			cause == nil || !strings.Contains(cause.Error(), "damaged") || !strings.Contains(cause.Error(), dir) {
			t.Fatalf("got %v because of %v", err, cause)
		}
	}
	if failed == 0 {
		t.Error("no error was reported")
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	for reason, change := range map[string]string{
		"the newer wasmres":     `PRAGMA user_version = 2`,
		"not a key-value store": `PRAGMA application_id = 1`,
		`belongs to tenant "x"`: `UPDATE state SET tenant = 'x'`,
	} {
		dir := closed(t)
		if _, err := raw(t, dir).Exec(change); err != nil {
			t.Fatal(err)
		}
		refuses(t, dir, reason)
	}
}

func TestFilesThatOtherUsersCanReachAreRefused(t *testing.T) {
	dir := closed(t)
	name := file(t, dir)
	try := func(what, advice string) {
		t.Helper()
		_, err := sqlitekv.Open(t.Context(), sqlitekv.Config{Dir: dir, Namespace: notes})
		if err == nil || !strings.Contains(err.Error(), advice) {
			t.Errorf("%s: got %v, want %q", what, err, advice)
		}
	}
	if err := os.Chmod(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	try("a directory others can read", "chmod 700")
	if err := errors.Join(os.Chmod(dir, 0o700), os.Chmod(name, 0o644)); err != nil {
		t.Fatal(err)
	}
	try("a file others can read", "chmod 600")
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := errors.Join(os.Rename(name, elsewhere), os.Symlink(elsewhere, name)); err != nil {
		t.Fatal(err)
	}
	try("a link", "not a regular file")
}

func TestALockIsWaitedForAsLongAsTheCall(t *testing.T) {
	dir := private(t)
	s := open(t, dir, kvcap.Quota{}, nil)
	put(t, s, kvcap.Put{Key: "k", Value: []byte("v")})
	other, err := raw(t, dir).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Put(ctx, kvcap.Put{Key: "k"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := s.Delete(ctx, "k", 0); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if _, value, err := s.Get(t.Context(), "k"); string(value) != "v" || err != nil {
		t.Errorf("a reader waited for the writer: got %q, %v", value, err)
	}
	time.AfterFunc(50*time.Millisecond, func() { _, _ = other.ExecContext(context.Background(), "ROLLBACK") })
	put(t, s, kvcap.Put{Key: "k"})
}
