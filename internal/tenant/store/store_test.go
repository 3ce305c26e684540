package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/store"
	"github.com/wasmres/wasmres/internal/tenant/storetest"
)

// private gives a path at which the store makes its folder.
func private(t testing.TB) string { return filepath.Join(t.TempDir(), "data") }

func open(t testing.TB, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func set(t testing.TB, s tenant.Store, all ...*tenant.Tenant) {
	t.Helper()
	if _, err := s.Apply(t.Context(), tenant.Change{Owner: tenant.OwnerFiles, SetTenants: all}); err != nil {
		t.Fatal(err)
	}
}

func TestSuite(t *testing.T) {
	storetest.Run(t, storetest.Config{Open: func(t *testing.T, dir string, now func() time.Time) tenant.Store {
		s, err := store.Open(t.Context(), store.Config{Dir: filepath.Join(dir, "data"), Now: now})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}})
}

func TestFilesArePrivate(t *testing.T) {
	dir := private(t)
	s := open(t, dir)
	set(t, s, storetest.Tenant("acme"))
	for name, want := range map[string]os.FileMode{".": 0o700, "serve.db": 0o600, "serve.db-wal": 0o600, "serve.lock": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for name, mode := range map[string]os.FileMode{"serve.db": 0o640, ".": 0o750} {
		file := filepath.Join(dir, name)
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(t.Context(), store.Config{Dir: dir}); err == nil || !strings.Contains(err.Error(), "chmod") {
			t.Errorf("%s with mode %o: %v", name, mode, err)
		}
	}
}

// fails opens a store that must be refused, and gives the error.
func fails(t *testing.T, dir string) string {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Dir: dir})
	if err == nil {
		t.Error("it is opened")
		s.Close()
		return ""
	}
	return err.Error()
}

// edit changes the file behind the back of a store that is closed.
func edit(t testing.TB, dir, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "serve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// A copy is made a minute after the first change, and then once a day if something has changed; five are kept.
func TestTheFileIsCopiedEachDay(t *testing.T) {
	dir := private(t)
	copies := func() []string {
		found, err := filepath.Glob(filepath.Join(dir, "backup", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir)
		left := filepath.Join(dir, "backup", ".new-1")
		if err := errors.Join(os.Mkdir(filepath.Dir(left), 0o700), os.WriteFile(left, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		for day := range 7 {
			set(t, s, storetest.Tenant(fmt.Sprint("t", day)))
			time.Sleep(25 * time.Hour)
			synctest.Wait()
			age(t, copies())
		}
		if n := len(copies()); n != 5 {
			t.Errorf("%d copies are kept", n)
		}
		if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("what a process that was killed has left: %v", err)
		}
		last := copies()
		time.Sleep(72 * time.Hour)
		if now := copies(); fmt.Sprint(now) != fmt.Sprint(last) {
			t.Errorf("nothing has changed, and %v became %v", last, now)
		}
		want := storetest.JSON(t, s.Snapshot())
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		restored := filepath.Join(t.TempDir(), "restored")
		if err := errors.Join(os.Mkdir(restored, 0o700), os.Rename(last[4], filepath.Join(restored, "serve.db"))); err != nil {
			t.Fatal(err)
		}
		if got := storetest.JSON(t, open(t, restored).Snapshot()); got != want {
			t.Errorf("the last copy has %s, want %s", got, want)
		}
	})
}

// age makes files as old as they would be: the clock of the test is not that of the file system.
func age(t *testing.T, files []string) {
	t.Helper()
	for _, file := range files {
		if err := os.Chtimes(file, time.Time{}, time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTablesAreMigratedAfterACopy(t *testing.T) {
	const second = `ALTER TABLE tenant ADD COLUMN note TEXT NOT NULL DEFAULT ''`
	dir := private(t)
	s := open(t, dir)
	set(t, s, storetest.Tenant("acme"))
	want := storetest.JSON(t, s.Snapshot())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	later := func(steps ...string) error {
		s, err := store.OpenAfter(t.Context(), store.Config{Dir: dir}, steps...)
		if err != nil {
			return err
		}
		if got := storetest.JSON(t, s.Snapshot()); got != want {
			t.Errorf("after the migration it has %s, want %s", got, want)
		}
		return s.Close()
	}
	if err := later(second, `CREATE TABLE broken (`); err == nil || !strings.Contains(err.Error(), fmt.Sprint("version ", store.Version()+2)) {
		t.Errorf("a migration that fails: %v", err)
	}
	if err := later(second); err != nil { // the first step of the failed ones holds
		t.Fatal(err)
	}
	copies, err := filepath.Glob(filepath.Join(dir, "backup", fmt.Sprintf("serve-v%d-*.db", store.Version())))
	if err != nil || len(copies) != 1 {
		t.Fatalf("got the copies %v, %v", copies, err)
	}
	if got := fails(t, dir); !strings.Contains(got, "newer wasmres") || !strings.Contains(got, copies[0]) {
		t.Errorf("an older program says %s", got)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(filepath.Join(dir, "serve.db"+suffix))
	}
	if err := os.Link(copies[0], filepath.Join(dir, "serve.db")); err != nil {
		t.Fatal(err)
	}
	if got := storetest.JSON(t, open(t, dir).Snapshot()); got != want {
		t.Errorf("the copy has %s, want %s", got, want)
	}
}

// damages has what happens to a file, each of which must be noticed.
var damages = map[string]func(t *testing.T, dir string){
	"a row of other content": func(t *testing.T, dir string) {
		edit(t, dir, `UPDATE tenant SET body = CAST(replace(CAST(body AS TEXT), 'notes', 'mails') AS BLOB) WHERE id = 'acme'`)
	},
	"a row of another owner": func(t *testing.T, dir string) { edit(t, dir, `UPDATE tenant SET owner = 'api'`) },
	"a key of another tenant": func(t *testing.T, dir string) {
		edit(t, dir, `UPDATE key SET tenant = 'zoo'`)
	},
	"a version of another tenant": func(t *testing.T, dir string) { edit(t, dir, `UPDATE version SET tenant = 'zoo'`) },
	"a missing version":           func(t *testing.T, dir string) { edit(t, dir, `DELETE FROM version`) },
	"a route of other content": func(t *testing.T, dir string) {
		edit(t, dir, `UPDATE route SET body = CAST(replace(CAST(body AS TEXT), '"Active":1', '"Active":0') AS BLOB)`)
	},
	"a missing number": func(t *testing.T, dir string) { edit(t, dir, `DELETE FROM number`) },
	"a missing row":    func(t *testing.T, dir string) { edit(t, dir, `DELETE FROM key`) },
	"a removed state":  func(t *testing.T, dir string) { edit(t, dir, `DELETE FROM state`) },
	"a missing table":  func(t *testing.T, dir string) { edit(t, dir, `DROP TABLE plan`) },
	"a huge body":      func(t *testing.T, dir string) { edit(t, dir, `UPDATE tenant SET body = zeroblob(5000000)`) },
	"a sum cut short":  func(t *testing.T, dir string) { edit(t, dir, `UPDATE tenant SET sum = x'00'`) },
	"a file cut short": func(t *testing.T, dir string) {
		if err := os.Truncate(filepath.Join(dir, "serve.db"), 9000); err != nil {
			t.Fatal(err)
		}
	},
	"another file": func(t *testing.T, dir string) {
		if err := os.WriteFile(filepath.Join(dir, "serve.db"), []byte(strings.Repeat("not a database ", 999)), 0o600); err != nil {
			t.Fatal(err)
		}
	},
}

func TestDamageIsRefused(t *testing.T) {
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			dir := private(t)
			s := open(t, dir)
			set(t, s, storetest.Tenant("acme"), storetest.Tenant("zoo"))
			change := tenant.Change{
				SetKeys:     []*tenant.Key{storetest.Key("acme", "a")},
				SetVersions: []*tenant.Version{storetest.Version("acme", 1, tenant.StateApproved)}, SetRoutes: []*tenant.Route{storetest.Route("acme", 1, 0, 0)},
			}
			if _, err := s.Apply(t.Context(), change); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			backup := filepath.Join(dir, "backup", "serve-v1-20261122T120000.000Z.db")
			if err := errors.Join(os.Mkdir(filepath.Dir(backup), 0o700), os.WriteFile(backup, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			damage(t, dir)
			before, err := os.ReadFile(filepath.Join(dir, "serve.db"))
			if err != nil {
				t.Fatal(err)
			}
			got := fails(t, dir)
			if name == "a missing table" {
				return // which is no damage that SQLite can see, and is refused all the same
			}
			if !strings.Contains(got, "damaged") || !strings.Contains(got, backup) {
				t.Errorf("got %s", got)
			}
			if after, err := os.ReadFile(filepath.Join(dir, "serve.db")); err != nil || string(after) != string(before) {
				t.Errorf("the damaged file was changed: %v", err)
			}
		})
	}
}

// Bytes of the file change: it is refused, or says what it said.
func TestChangedBytesAreNoticed(t *testing.T) {
	dir := private(t)
	s := open(t, dir)
	for i := range 20 {
		set(t, s, storetest.Tenant(fmt.Sprint("t", i)))
	}
	want := storetest.JSON(t, s.Snapshot())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "serve.db")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for range 100 {
		text := bytes.Clone(whole)
		at := rand.IntN(len(text))
		text[at] ^= byte(1 + rand.IntN(255))
		for _, suffix := range []string{"-wal", "-shm"} {
			_ = os.Remove(file + suffix)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(t.Context(), store.Config{Dir: dir})
		if err != nil {
			refused++
			continue
		}
		if got := storetest.JSON(t, s.Snapshot()); got != want {
			t.Errorf("with byte %d changed it says %s", at, got)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if refused == 0 {
		t.Error("no change was noticed")
	}
}

func TestAFileOfAnotherProgramIsRefused(t *testing.T) {
	dir := private(t)
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "serve.db"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	edit(t, dir, `CREATE TABLE a (b)`)
	if got := fails(t, dir); !strings.Contains(got, "not one of wasmres") {
		t.Errorf("got %s", got)
	}
}

// An edit by another program while the server runs is noticed, and nothing is written over it.
func TestChangesOfAnotherProgramAreNotLost(t *testing.T) {
	dir := private(t)
	s := open(t, dir)
	set(t, s, storetest.Tenant("acme"))
	edit(t, dir, `UPDATE state SET generation = generation + 1`)
	_, err := s.Apply(context.Background(), tenant.Change{Owner: tenant.OwnerFiles, RemoveTenants: []string{"acme"}})
	if !errors.Is(err, tenant.ErrUnavailable) || !strings.Contains(err.Error(), "another program") {
		t.Errorf("got %v", err)
	}
	if s.Snapshot().Tenants["acme"] == nil {
		t.Error("it is in force")
	}
}

// Whatever a row of a version or a route says, it is read as it was written or refused.
func FuzzDeployed(f *testing.F) {
	version, err := json.Marshal(storetest.Version("acme", 1, tenant.StateApproved))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("acme/notes@1", "acme", string(version), uint8(0))
	f.Add("acme/notes", "acme", `{"Tenant":"acme","Provider":"notes","Active":1}`, uint8(1))
	f.Add("acme/notes", "acme", `7`, uint8(2))
	f.Fuzz(func(t *testing.T, id, of, body string, kind uint8) {
		again, err := store.ReadDeployed(id, of, body, kind)
		if err != nil {
			return
		}
		twice, err := store.ReadDeployed(id, of, again, kind)
		if err != nil || twice != again {
			t.Errorf("%q is read as %q, and then as %q, %v", body, again, twice, err)
		}
	})
}

// Whatever a row says, it is read as it was written or refused.
func FuzzSnapshot(f *testing.F) {
	f.Add("acme", "files", int64(0), `{"ID":"acme","Owner":"files"}`, true)
	f.Add("acme", "files", int64(0), `{"ID":"acme","Owner":"api"}`, true)
	f.Add("zoo", "api", int64(1), ``, false)
	f.Add("acme", "files", int64(0), `{"ID":"acme","Owner":"files","Unknown":1} {}`, true)
	f.Add("k", "acme", int64(0), `{"ID":"k","Tenant":"acme","Name":"n","SHA256":"`+strings.Repeat("0f", 32)+`"}`, false)
	f.Fuzz(func(t *testing.T, id, of string, gone int64, body string, isTenant bool) {
		again, err := store.ReadRow(id, of, gone, body, isTenant)
		if err != nil {
			return
		}
		twice, err := store.ReadRow(id, of, gone, again, isTenant)
		if err != nil || twice != again {
			t.Errorf("%q is read as %q, and then as %q, %v", body, again, twice, err)
		}
	})
}
