package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite", which makes the databases

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/sqlite"
	"github.com/wasmres/wasmres/runtime/internal/process"
)

// TestMain runs this program as a helper if it was started as one. A helper has neither arguments nor environment, so the
// name of its file gives its kind.
func TestMain(m *testing.M) {
	process.Main()
	if answer := liar(); answer != nil {
		play(answer)
		os.Exit(0)
	}
	sqlite.MainWith(inside())
	process.ForkServer() // the fork server never ends
	os.Exit(m.Run())
}

var limits = database.Limits{Cell: 512 << 10, Columns: 256, Query: 64 << 10, Args: 100}

// makeFile makes a database file of three users.
func makeFile(tb testing.TB, statements ...string) string {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "users.db")
	db := write(tb, file)
	for _, statement := range append(statements, "create table users (id integer primary key, name text not null)",
		"insert into users values (1, 'Ada'), (2, 'Alan'), (3, 'Grace')") {
		if _, err := db.Exec(statement); err != nil {
			tb.Fatal(err)
		}
	}
	return file
}

// write opens a file for writing until the end of the test.
func write(tb testing.TB, file string) *sql.DB {
	tb.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		tb.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	tb.Cleanup(func() { _ = db.Close() }) // a second time where a test has closed it
	return db
}

// open makes a driver that is closed at the end of the test.
func open(tb testing.TB, file string) *sqlite.Driver {
	tb.Helper()
	d, err := sqlite.New(file, database.Config{Limits: limits, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := d.Close(); err != nil {
			tb.Error(err)
		}
	})
	return d
}

// connect opens a session that is closed at the end of the test.
func connect(tb testing.TB, d *sqlite.Driver) database.Session {
	tb.Helper()
	s, err := d.Connect(tb.Context())
	if err != nil {
		tb.Fatal(cause(err))
	}
	tb.Cleanup(func() { _ = s.Close() }) // a second time where a test has closed it
	return s
}

// cause returns an error with what it hides.
func cause(err error) string {
	text := ""
	for ; err != nil; err = errors.Unwrap(err) {
		text += err.Error() + "; "
	}
	return text
}

// all runs a statement and gives its rows.
func all(ctx context.Context, s database.Session, timeout time.Duration, query string, args ...abi.SQLValue) (rows [][]abi.SQLValue, err error) {
	columns, err := s.Query(ctx, &database.Statement{Query: query, Args: args, Timeout: timeout})
	for err == nil {
		row := make([]abi.SQLValue, len(columns))
		if err = s.Next(row); err == nil {
			rows = append(rows, row)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return rows, errors.Join(err, s.Reset(context.Background()))
}

func exec(tb testing.TB, db *sql.DB, statements string) {
	tb.Helper()
	if _, err := db.Exec(statements); err != nil {
		tb.Fatalf("%s: %v", statements, err)
	}
}
