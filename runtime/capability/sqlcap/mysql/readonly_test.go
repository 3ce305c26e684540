package mysql

import (
	"database/sql/driver"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/wasmres/wasmres/internal/dbtest"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
)

// TestTransactionsOnlyRead sends statements directly to the session of a superuser, past all checks of this package.
func TestTransactionsOnlyRead(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a server")
	}
	server, err := dbtest.MariaDB()
	if errors.Is(err, dbtest.ErrMissing) {
		guesttest.Missing(t, "no server: install mariadb-server: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	d, err := New(server.MariaDBURL("root", "mysql"), database.Config{Privileged: true,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	config, err := parse(server.MariaDBURL("root", "mysql"))
	if err != nil {
		t.Fatal(err)
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := connector.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	for _, statement := range []string{
		"create database test", "create table test.users (id int)", "create table test.plain (id int) engine=myisam",
		"create sequence test.counter",
		"create function test.sneak() returns int modifies sql data begin insert into test.users values (1); return 1; end",
	} {
		if _, err := admin.(driver.ExecerContext).ExecContext(t.Context(), statement, nil); err != nil {
			t.Fatal(err)
		}
	}
	opened, err := d.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	s := opened.(*session)
	const readOnly = 1792
	for _, statement := range []string{
		"insert into test.users values (1)", "update test.users set id = 2", "delete from test.users",
		"truncate test.users", "replace into test.users values (1)",
		"insert into test.plain values (1)", "create table test.loot (id int)", "drop table test.users",
		"alter table test.users add x int",
		"create index x on test.users (id)", "create user eve", "grant all on *.* to eve",
		"rename table test.users to test.loot",
		"select test.sneak()", "select nextval(test.counter)", "create or replace view test.v as select 1",
		"optimize table test.users",
	} {
		if err := s.begin(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		_, err := s.texts(t.Context(), statement)
		var refused *mysql.MySQLError
		if !errors.As(err, &refused) || refused.Number != readOnly {
			t.Errorf("%s: got %v, want %d", statement, err, readOnly)
		}
		if err := s.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.texts(t.Context(), "insert into test.users values (1)"); err == nil {
		t.Error("a session writes outside of the transaction it was given")
	}
	// Statements that the server would run, and EXPLAIN refuses.
	for _, statement := range []string{
		"commit", "begin not atomic commit; set session transaction read write; insert into test.users values (1); select 1; end",
		"set session transaction read write", "analyze table test.users", "call sys.x()", "execute immediate 'commit'",
		"show tables", "use test", "kill 1",
	} {
		if err := s.checkReads(t.Context(), statement); err == nil {
			t.Errorf("%s: EXPLAIN takes it", statement)
		}
	}
	for _, statement := range []string{"select 1", "(select 1)", "with x as (select 1) select * from x",
		"select 1 union select 2 order by 1", "values (1)", "select ?"} {
		if err := s.checkReads(t.Context(), statement); err != nil {
			t.Errorf("%s: EXPLAIN does not take it: %v", statement, err)
		}
	}
}
