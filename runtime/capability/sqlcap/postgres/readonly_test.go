package postgres

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/wasmres/wasmres/internal/dbtest"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
)

// TestTransactionsOnlyRead sends statements directly to the session of a superuser, past all checks of this package.
func TestTransactionsOnlyRead(t *testing.T) {
	server, err := dbtest.Postgres()
	if errors.Is(err, dbtest.ErrMissing) {
		guesttest.Missing(t, "no server: install postgresql: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	driver, err := New(server.PostgresURL("postgres", "postgres"), database.Config{Privileged: true,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := driver.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	s := opened.(*session)
	admin, err := pgconn.Connect(t.Context(), server.PostgresURL("postgres", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(t.Context())
	if _, err := admin.Exec(t.Context(),
		"create table users (id int); create sequence counter; create procedure leave() language plpgsql as $$ begin commit; insert into users values (1); end $$").ReadAll(); err != nil {
		t.Fatal(err)
	}
	for statement, want := range map[string]string{
		"insert into users values (1)": "25006", "update users set id = 2": "25006", "delete from users": "25006",
		"truncate users":             "25006",
		"create table loot (id int)": "25006", "create temp table loot (id int)": "25006",
		"select * into loot from users": "25006", "drop table users": "25006",
		"alter table users add x int": "25006", "create index on users (id)": "25006",
		"grant select on users to public": "25006", "select nextval('counter')": "25006",
		"copy users from program 'echo 1'": "25006", "vacuum": "25001",
		"do $$ begin insert into users values (1); end $$":                             "25006",
		"set transaction read write":                                                   "25001",
		"do $$ begin set transaction read write; insert into users values (1); end $$": "25001",
		"do $$ begin commit; insert into users values (1); end $$":                     "2D000", "call leave()": "2D000",
		"select set_config('transaction_read_only', 'off', true)": "25001",
		"create role eve": "25006", "comment on table users is 'x'": "25006", "discard all": "25001",
	} {
		if err := s.begin(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		_, err := s.conn.Exec(t.Context(), statement).ReadAll()
		var state *pgconn.PgError
		if !errors.As(err, &state) || state.Code != want {
			t.Errorf("%s: got %v, want %s", statement, err, want)
		}
		if err := s.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// After a transaction has ended, the next one is read-only, too, until the session is reset.
	if _, err := s.conn.Exec(t.Context(), "begin; insert into users values (1)").ReadAll(); err == nil {
		t.Error("a session writes outside of the transaction it was given")
	}
}
