package sqlcap_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	_ "modernc.org/sqlite"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/dbtest"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
)

// A system is a database for the tests, with a table users of three rows.
type system struct {
	name   string
	err    error                                  // why there is none
	ask    func(statement string) (string, error) // runs a statement as the superuser; gives the first value
	urls   map[string]string                      // by role: reader may read, writer may write all there is, super may do everything
	mark   string                                 // a placeholder
	slow   string                                 // takes a minute
	many   string                                 // gives as many rows as its parameter says
	large  string                                 // gives as many bytes as its parameter says, in one value
	server *dbtest.Server                         // nil for sqlite
	socket string                                 // within the directory of server
	close  func()
}

var systems = []*system{
	{name: "postgres", mark: "$1", slow: "select pg_sleep(60)",
		many: "select n, 'row ' || n from generate_series(1, $1::int8) n", large: "select repeat('x', $1::int4)"},
	{name: "mariadb", mark: "?", slow: "select sleep(60)",
		many: "select seq, concat('row ', seq) from seq_1_to_10000000 where seq <= ?", large: "select repeat('x', ?)"},
	{
		name: "sqlite", mark: "?1",
		slow:  "with recursive c(x) as (select 1 union all select x+1 from c) select count(*) from c",
		many:  "with recursive c(x) as (select 1 union all select x+1 from c limit ?1) select x, 'row ' || x from c",
		large: "select replace(hex(zeroblob(?1/2)), '0', 'x')",
	},
}

func TestMain(m *testing.M) {
	sqlcap.Main()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sqlcap-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	systems[2].startSQLite(filepath.Join(dir, "users.db"))
	status := m.Run()
	for _, s := range systems {
		if s.close != nil {
			s.close()
		}
	}
	return status
}

// startServers starts both servers, for the first test that needs one: fuzz targets, and lists of tests, need none.
var startServers = sync.OnceFunc(func() {
	var starting sync.WaitGroup
	starting.Go(systems[0].startPostgres)
	starting.Go(systems[1].startMariaDB)
	starting.Wait()
})

func (s *system) startPostgres() {
	server, err := dbtest.Postgres()
	if err != nil {
		s.err = err
		return
	}
	s.server, s.socket = server, ".s.PGSQL.5432"
	s.urls = map[string]string{"super": server.PostgresURL("postgres", "postgres"),
		"writer": server.PostgresURL("writer", "postgres"), "reader": server.PostgresURL("reader", "postgres")}
	s.fill("postgres", s.urls["super"],
		"create table users (id int8 primary key, name text not null, born date)",
		"insert into users values (1, 'Ada', '1815-12-10'), (2, 'Alan', '1912-06-23'), (3, 'Grace', null)",
		"create sequence counter", "create materialized view names as select name from users",
		"create role reader login", "create role locked login", "grant select on users to locked", "create role writer login createdb", "create role other", "grant other to writer",
		"grant select on users to reader",
		"alter table users owner to writer", "alter sequence counter owner to writer",
		"alter materialized view names owner to writer",
		"grant all on schema public to writer",
		"create function sneak() returns int language plpgsql security definer as $$ begin delete from users; return 1; end $$",
		"create function sneak_out() returns int language plpgsql security definer as $$ begin set transaction read write; delete from users; return 1; end $$",
		"create procedure leave(inout n int) language plpgsql as $$ begin commit; delete from users; end $$")
	s.close = func() { _ = server.Close() }
}

func (s *system) startMariaDB() {
	server, err := dbtest.MariaDB()
	if err != nil {
		s.err = err
		return
	}
	s.server, s.socket = server, "socket"
	s.urls = map[string]string{"super": server.MariaDBURL("root", "test"), "writer": server.MariaDBURL("writer",
		"test"), "reader": server.MariaDBURL("reader", "test")}
	socket := server.Dir + "/socket"
	s.fill("mysql", "root@unix("+socket+")/",
		"create database test character set utf8mb4", "use test",
		"create table test.users (id bigint primary key, name text not null, born date) engine=innodb",
		"create table test.plain (id bigint primary key) engine=myisam",
		"insert into test.users values (1, 'Ada', '1815-12-10'), (2, 'Alan', '1912-06-23'), (3, 'Grace', null)",
		"create sequence test.counter",
		"create view test.names as select name from test.users",
		"create procedure test.sneak() sql security definer begin commit; set session transaction read write; delete from users; select 1; end",
		"create function test.sneaky() returns int sql security definer modifies sql data begin delete from users; return 1; end",
		"create user reader@localhost", "create user writer@localhost", "create user locked@localhost identified by 'some-password'",
		"grant select on test.* to reader@localhost", "grant select on test.* to locked@localhost",
		"grant all privileges on test.* to writer@localhost")
	s.close = func() { _ = server.Close() }
}

func (s *system) startSQLite(file string) {
	s.urls = map[string]string{"super": "sqlite:" + file, "writer": "sqlite:" + file, "reader": "sqlite:" + file}
	s.fill("sqlite", file,
		"create table users (id integer primary key, name text not null, born date)",
		"insert into users values (1, 'Ada', '1815-12-10'), (2, 'Alan', '1912-06-23'), (3, 'Grace', null)",
		"create view names as select name from users",
		"create trigger watch after delete on users begin insert into users values (9, 'trigger', null); end")
}

func (s *system) fill(driver, url string, statements ...string) {
	if s.ask, s.err = administrator(driver, url); s.err != nil {
		return
	}
	for _, statement := range statements {
		if _, err := s.ask(statement); err != nil {
			s.err = fmt.Errorf("%s: %s: %w", s.name, statement, err)
			return
		}
	}
}

// administrator connects without the capability.
func administrator(driver, url string) (func(string) (string, error), error) {
	if driver != "postgres" {
		db, err := sql.Open(driver, url)
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(1)
		return func(statement string) (string, error) {
			var first sql.NullString
			err := db.QueryRow(statement).Scan(&first)
			if errors.Is(err, sql.ErrNoRows) {
				err = nil
			}
			return first.String, err
		}, nil
	}
	conn, err := pgconn.Connect(context.Background(), url)
	if err != nil {
		return nil, err
	}
	return func(statement string) (string, error) {
		result := conn.ExecParams(context.Background(), statement, nil, nil, nil, nil).Read()
		if result.Err != nil || len(result.Rows) == 0 {
			return "", result.Err
		}
		return string(result.Rows[0][0]), nil
	}, nil
}

// each runs a test against every system.
func each(t *testing.T, test func(t *testing.T, s *system)) {
	for _, s := range systems {
		t.Run(s.name, func(t *testing.T) {
			s.need(t)
			test(t, s)
		})
	}
}

// need starts the servers, and skips a test when there is no such system.
func (s *system) need(t testing.TB) {
	t.Helper()
	if s.name != "sqlite" {
		if testing.Short() {
			t.Skip("servers take seconds to start")
		}
		startServers()
	}
	if errors.Is(s.err, dbtest.ErrMissing) {
		guesttest.Missing(t, "no server: install postgresql and mariadb-server: %v", s.err)
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
}

// connection returns a connection of the role to the system.
func (s *system) connection(t testing.TB, role string, limits sqlcap.Limits) sqlcap.Connection {
	t.Helper()
	dsn, err := sqlcap.ParseDSN(s.urls[role])
	if err != nil {
		t.Fatal(err)
	}
	return sqlcap.Connection{DSN: dsn, Limits: limits, Privileged: role == "super"}
}

// open opens the capability with the connection main.
func (s *system) open(t testing.TB, role string, limits sqlcap.Limits, observe capability.Observer) *sqlcap.SQL {
	t.Helper()
	cfg := sqlcap.Config{Connections: map[string]sqlcap.Connection{"main": s.connection(t, role, limits)}}
	p, err := sqlcap.Open(cfg, observe)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// call returns the context of a call of a guest.
func call(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func text(s string) abi.SQLValue  { return abi.SQLValue{Kind: abi.SQLText, Text: s} }
func number(n int64) abi.SQLValue { return abi.SQLValue{Kind: abi.SQLInt, Int: n} }

// query runs a statement and reads all of its rows.
func query(ctx context.Context, p *sqlcap.SQL, statement string, args ...abi.SQLValue) (abi.SQLResponse, error) {
	all, err := part(ctx, p, abi.ServiceSQL, (&abi.SQLRequest{Connection: "main", Query: statement,
		Args: args}).Append(nil))
	for stream := all.Stream; err == nil && stream != 0; {
		var next abi.SQLResponse
		next, err = part(ctx, p, abi.ServiceSQLRows, (&abi.StreamRequest{Stream: stream}).Append(nil))
		all.Rows, stream = append(all.Rows, next.Rows...), next.Stream
	}
	return all, err
}

// part makes one call of a service.
func part(ctx context.Context, p *sqlcap.SQL, service abi.Service, request []byte) (msg abi.SQLResponse, err error) {
	resp, err := p.Services()[service].Call(ctx, request)
	if err == nil {
		err = msg.Decode(resp.Message)
	}
	return msg, err
}

// show writes the values of rows.
func show(rows []abi.SQLRow) string {
	var lines []string
	for _, row := range rows {
		var words []string
		for _, v := range row.Values {
			words = append(words, map[abi.SQLKind]string{
				abi.SQLNull: "null", abi.SQLBool: fmt.Sprint(v.Int != 0), abi.SQLInt: fmt.Sprint(v.Int),
				abi.SQLFloat: fmt.Sprintf("%gf", v.Float), abi.SQLText: fmt.Sprintf("%q", v.Text),
				abi.SQLBytes: fmt.Sprintf("x'%x'", v.Bytes),
			}[v.Kind])
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, "\n")
}
