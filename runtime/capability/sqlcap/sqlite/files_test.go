package sqlite_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/sqlite"
)

// A helper that is killed while it reads does not damage the database, nor block its writers.
func TestAKilledReaderHarmsNothing(t *testing.T) {
	for _, mode := range []string{"delete", "wal", "persist", "truncate"} {
		t.Run(mode, func(t *testing.T) {
			file := makeFile(t, "pragma journal_mode="+mode)
			db := write(t, file)
			if mode != "wal" {
				exec(t, db, "pragma journal_mode="+mode)
			}
			d := open(t, file)
			for i := range 3 {
				s := connect(t, d)
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				_, err := s.Query(ctx, &database.Statement{Query: "select (" + endless + ") from users", Timeout: time.Minute})
				if cancel(); abi.CodeOf(err) != abi.CodeDeadline {
					t.Fatalf("got %s", cause(err))
				}
				<-sqlite.Ended(s) // and its locks are released
				exec(t, db, "begin immediate; insert into users (name) values ('new'); commit")
				if rows, err := all(t.Context(), connect(t, d), time.Minute, "select name from users"); err != nil || len(rows) != 4+i {
					t.Errorf("got %d rows, %s", len(rows), cause(err))
				}
			}
			var found string
			if err := db.QueryRow("pragma integrity_check").Scan(&found); err != nil || found != "ok" {
				t.Errorf("the database is %s, %v", found, err)
			}
		})
	}
}

// While a program writes, sessions read only what was committed.
func TestUncommittedChangesAreNotRead(t *testing.T) {
	file := makeFile(t, "pragma journal_mode=wal")
	db := write(t, file)
	s := connect(t, open(t, file))
	count := func() int64 {
		rows, err := all(t.Context(), s, time.Minute, "select count(*) from users")
		if err != nil {
			t.Fatal(cause(err))
		}
		return rows[0][0].Int
	}
	exec(t, db, "begin immediate; insert into users (name) values ('new')")
	if n := count(); n != 3 {
		t.Errorf("it sees %d users before the commit", n)
	}
	exec(t, db, "commit")
	if n := count(); n != 4 {
		t.Errorf("it sees %d users after the commit", n)
	}
}

// A database may get new files after the helper was confined to the old ones: the next helper can read them.
func TestNewFilesOfADatabase(t *testing.T) {
	for _, mode := range []string{"wal", "persist"} {
		t.Run(mode, func(t *testing.T) {
			file := makeFile(t)
			d := open(t, file)
			s := connect(t, d)
			if _, err := all(t.Context(), s, time.Minute, "select name from users"); err != nil {
				t.Fatal(cause(err))
			}
			db := write(t, file)
			exec(t, db, "pragma journal_mode="+mode)
			exec(t, db, "insert into users (name) values ('new')")
			rows, err := all(t.Context(), s, time.Minute, "select name from users")
			if err != nil && !errors.Is(err, database.ErrLost) {
				t.Fatalf("got %s", cause(err))
			}
			if err != nil {
				rows, err = all(t.Context(), connect(t, d), time.Minute, "select name from users")
			}
			if err != nil || len(rows) != 4 {
				t.Errorf("got %v, %s", rows, cause(err))
			}
		})
	}
}

func TestADatabaseInWALModeWithoutAWriter(t *testing.T) {
	file := makeFile(t)
	db := write(t, file)
	exec(t, db, "pragma journal_mode=wal")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file + "-wal"); err == nil {
		t.Fatal("the writer has left its -wal file")
	}
	if rows, err := all(t.Context(), connect(t, open(t, file)), time.Minute, "select name from users"); err != nil || len(rows) != 3 {
		t.Errorf("got %v, %s", rows, cause(err))
	}
}

func TestFilesThatAreNotADatabase(t *testing.T) {
	dir := t.TempDir()
	noise := dir + "/noise.db"
	if err := os.WriteFile(noise, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{dir, dir + "/missing.db", noise} {
		s, err := open(t, file).Connect(t.Context())
		if err == nil {
			_, err = all(t.Context(), s, time.Minute, "select * from sqlite_master")
			_ = s.Close()
		}
		if code := abi.CodeOf(err); code != abi.CodeUnavailable && code != abi.CodeInternal {
			t.Errorf("%s: got %s", file, cause(err))
		}
	}
}

func TestALinkToADatabase(t *testing.T) {
	link := t.TempDir() + "/link.db"
	if err := os.Symlink(makeFile(t), link); err != nil {
		t.Fatal(err)
	}
	if rows, err := all(t.Context(), connect(t, open(t, link)), time.Minute, "select name from users"); err != nil || len(rows) != 3 {
		t.Errorf("got %v, %s", rows, cause(err))
	}
}
