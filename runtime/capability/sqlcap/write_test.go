package sqlcap_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
)

// writes are statements that would change something, or end the transaction, on every system.
var writes = []string{
	"insert into users values (4, 'Eve', null)", "insert into users values (4, 'Eve', null) returning id",
	"update users set name = 'Eve'", "delete from users", "delete from users where id > 0 returning id",
	"with gone as (select 1) delete from users", "replace into users values (1, 'Eve', null)",
	"create table loot as select * from users", "create table loot (id int)", "create temporary table loot (id int)",
	"create temp table loot (id int)", "create view loot as select 1", "create index loot on users (name)",
	"drop table users", "alter table users add column x int",
	"truncate table users", "truncate users",
	"select 1; delete from users", "commit; delete from users", "rollback; delete from users", "; delete from users",
	"select 1;; delete from users --",
	"commit", "rollback", "end", "begin", "start transaction", "start transaction read write", "savepoint a",
	"set transaction read write",
	"set session characteristics as transaction read write", "set session transaction read write",
	"explain delete from users; delete from users", "explain analyze delete from users", "analyze delete from users",
	"call sneak()", "call leave(1)", "vacuum", "analyze users", "reindex", "analyze table users",
	"optimize table users", "flush tables",
	"prepare x from 'delete from users'", "prepare x as delete from users", "execute immediate 'delete from users'",
	"execute x",
	"lock tables users write", "lock table users", "select * from absent()",
}

// ownWrites are those of one system.
var ownWrites = map[string][]string{
	"postgres": {
		"with gone as (delete from users returning id) select * from gone",
		"with made as (insert into users values (4, 'Eve') returning id) select * from made",
		"update users set name = 'Eve' returning *", "merge into users using (select 1) x on true when matched then delete",
		"select * into loot from users", "select sneak()", "select sneak_out()", "select nextval('counter')",
		"select setval('counter', 9)",
		"select * from users for update", "refresh materialized view names", "create database loot", "create role eve",
		"copy users from program 'true'", "copy (select 1) to program 'touch FILE'", "copy users to 'FILE'",
		"copy users to stdout", "copy users from stdin",
		"do $$ begin delete from users; end $$", "do $$ begin commit; delete from users; end $$",
		"do $$ begin set transaction read write; delete from users; end $$",
		"select set_config('transaction_read_only', 'off', false)",
		"select set_config('transaction_read_only', 'off', true), sneak()",
		"set default_transaction_read_only = off", "set local transaction_read_only = off", "reset all", "discard all",
		"set role other", "reset role", "set session authorization reader",
		"listen x", "notify x", "declare c cursor with hold for select 1", "checkpoint", "commit and chain",
		"prepare transaction 'x'",
		"select lo_from_bytea(4711, 'x')::int / 0", "security label on table users is 'x'",
		"comment on table users is 'x'", "explain (analyze) insert into users values (4, 'Eve')",
	},
	"mariadb": {
		"begin not atomic commit; set session transaction read write; delete from users; select 1; end",
		"begin not atomic rollback; set session transaction read write; delete from users; select 1; end",
		"set statement max_statement_time = 0 for delete from users", "select sneaky()", "select nextval(counter)",
		"insert into plain values (1)", "select * from users for update; commit",
		"select * from users into outfile 'FILE'", "select 1 into dumpfile 'FILE'",
		"load data local infile '/etc/passwd' into table users", "load data infile 'FILE' into table users",
		"set session transaction_read_only = 0", "set transaction_read_only = 0", "set tx_read_only = 0",
		"set global read_only = 1", "set @x = 1", "do get_lock('x', 1)", "handler users open", "kill 1",
		"create or replace table users (id int)", "create sequence loot", "rename table users to loot",
		"grant all on test.* to reader@localhost", "create user eve",
		"execute immediate 'begin not atomic commit; delete from users; end'",
		"/*!50000 delete from users */", "/*! commit */", "table users; delete from users", "xa start 'x'",
		"reset query cache", "if 1 then delete from users; end if",
		"explain commit", "select load_file('/etc/passwd') is null or sneaky()",
	},
	"sqlite": {
		"attach 'FILE' as loot", "attach ':memory:' as loot", "vacuum into 'FILE'", "pragma query_only = 0",
		"pragma writable_schema = 1", "pragma journal_mode = wal", "pragma user_version = 7",
		"pragma table_info(users); delete from users", "pragma temp_store = 1", "pragma database_list",
		"pragma wal_checkpoint", "pragma optimize", "pragma hard_heap_limit = 0", "pragma temp_store_directory = '/tmp'",
		"select load_extension('FILE')", "insert into sqlite_master values (1,1,1,1,1)",
		"update sqlite_dbpage set data = zeroblob(4096)", "create virtual table loot using fts5(x)",
		"select writefile('FILE', 'x')", "create trigger loot after insert on users begin delete from users; end",
		"detach main", "release a", "select readfile('/etc/passwd')", "select edit('x')",
		"select * from pragma_query_only(0)", "select * from pragma_user_version(7)",
	},
}

func TestWritesAreRefused(t *testing.T) {
	each(t, func(t *testing.T, s *system) {
		folder := t.TempDir()
		if err := os.Chmod(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		file := folder + "/loot"
		before := s.state(t)
		roles := []string{"reader", "writer"}
		if s.name == "postgres" {
			roles = append(roles, "super") // the statements of files and programs are refused to it only because they give no rows
		}
		for _, role := range roles {
			p := s.open(t, role, sqlcap.Limits{Sessions: 1}, nil)
			for _, statement := range append(writes[:len(writes):len(writes)], ownWrites[s.name]...) {
				statement = strings.ReplaceAll(statement, "FILE", file)
				got, err := query(call(t), p, statement)
				if code := abi.CodeOf(err); code != abi.CodeDenied && code != abi.CodeInvalidParams {
					t.Errorf("%s: %s: got %s, %v", role, statement, show(got.Rows), cause(err))
				}
				if _, err := os.Stat(file); err == nil {
					t.Fatalf("%s: %s: it has written a file", role, statement)
				}
				if after := s.state(t); after != before {
					t.Fatalf("%s: %s: it has changed\n%s\nto\n%s", role, statement, before, after)
				}
			}
			if got, err := query(call(t), p, "select count(*) from users"); err != nil || show(got.Rows) != "3" {
				t.Errorf("%s: afterwards: got %s, %v", role, show(got.Rows), cause(err))
			}
		}
	})
}

// state returns the content of the database.
func (s *system) state(t *testing.T) string {
	t.Helper()
	var all []string
	for _, question := range map[string][]string{
		"postgres": {"select string_agg(u::text, ';' order by id) from users u",
			"select string_agg(relname, ',' order by relname) from pg_class where relnamespace = 'public'::regnamespace",
			"select last_value || ' ' || is_called from counter", "select count(*) from pg_roles",
			"select count(*) from pg_largeobject_metadata", "select count(*) from pg_database"},
		"mariadb": {"select group_concat(id, name, ifnull(born, '-') order by id) from test.users",
			"select group_concat(table_name, table_type order by 1) from information_schema.tables where table_schema = 'test'", "select count(*) from test.plain", "select next_not_cached_value from test.counter", "select group_concat(user order by user) from mysql.user", "select @@global.read_only"},
		"sqlite": {"select group_concat(id || name || ifnull(born, '-')) from users",
			"select group_concat(name || sql) from sqlite_master", "select user_version from pragma_user_version",
			"select journal_mode from pragma_journal_mode"},
	}[s.name] {
		answer, err := s.ask(question)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, answer)
	}
	return strings.Join(all, "\n")
}

// TestTheServerRefuses tests the read-only mode of PostgreSQL: these statements give rows, so that only it refuses them.
func TestTheServerRefuses(t *testing.T) {
	s := systems[0]
	s.need(t)
	p := s.open(t, "super", sqlcap.Limits{}, nil)
	for _, statement := range []string{
		"insert into users values (4, 'Eve') returning id", "update users set name = 'Eve' returning id",
		"delete from users returning id",
		"with gone as (delete from users returning id) select * from gone", "select sneak()", "select nextval('counter')",
		"select * from users for update",
		"select set_config('transaction_read_only', 'off', false)", "explain analyze delete from users",
	} {
		_, err := query(call(t), p, statement)
		var state *pgconn.PgError
		if !errors.As(err, &state) || state.Code != "25006" && state.Code != "25001" {
			t.Errorf("%s: got %v", statement, cause(err))
		}
	}
}

func TestSessionsAreReset(t *testing.T) {
	leave := map[string]map[string]string{ // by system: statements that leave something in the session, and statements that find it
		"postgres": {
			"select set_config('app.mark', 'left', false)":                     "select coalesce(current_setting('app.mark', true), '') = 'left'",
			"select set_config('role', 'other', false)":                        "select current_user = 'other'",
			"select set_config('default_transaction_read_only', 'off', false)": "select current_setting('default_transaction_read_only') = 'off'",
			"select set_config('statement_timeout', '0', false)":               "select current_setting('statement_timeout') = '0'",
			"select pg_advisory_lock(7)":                                       "select exists (select from pg_locks where locktype = 'advisory')",
		},
		"mariadb": {
			"select @mark := 5":          "select @mark is not null",
			"select get_lock('mark', 1)": "select is_used_lock('mark') is not null",
			"select last_insert_id(7)":   "select last_insert_id() = 7",
		},
		"sqlite": {"select 1": "select 0"},
	}
	each(t, func(t *testing.T, s *system) {
		p := s.open(t, "writer", sqlcap.Limits{Sessions: 1}, nil)
		for mark, find := range leave[s.name] {
			if _, err := query(call(t), p, mark); err != nil {
				t.Errorf("%s: %v", mark, cause(err))
			}
			found, err := "1", error(nil)
			for tries := 0; tries == 0 || tries < 1000 && err == nil && isGlobal(mark) && isTrue(found); tries++ {
				var got abi.SQLResponse
				got, err = query(call(t), p, find)
				found = show(got.Rows)
			}
			if err != nil || isTrue(found) {
				t.Errorf("after %s: got %s, %v", mark, found, cause(err))
			}
		}
	})
}

// isGlobal reports whether other sessions see what a statement leaves, until the server has noticed the end of its session.
func isGlobal(statement string) bool { return strings.Contains(statement, "lock") }

func isTrue(found string) bool { return found != "0" && found != "false" }

func TestPrivilegedRolesAreRefused(t *testing.T) {
	each(t, func(t *testing.T, s *system) {
		if s.name == "sqlite" {
			return // has no roles
		}
		for role, want := range map[string]string{"super": "denied", "writer": "warned", "reader": ""} {
			var log bytes.Buffer
			c := s.connection(t, role, sqlcap.Limits{})
			c.Privileged = false
			p, err := sqlcap.Open(sqlcap.Config{Connections: map[string]sqlcap.Connection{"main": c},
				Logger: slog.New(slog.NewTextHandler(&log, nil))}, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := p.Check(t.Context()); abi.CodeOf(err) == abi.CodeDenied {
				got = "denied"
			} else if err != nil {
				t.Error(err)
			} else if strings.Contains(log.String(), "grant it SELECT alone") && strings.Contains(log.String(),
				"connection=main") {
				got = "warned"
			}
			if got != want {
				t.Errorf("%s: got %q, want %q", role, got, want)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
