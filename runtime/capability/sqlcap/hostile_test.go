package sqlcap_test

import (
	"context"
	"database/sql"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
)

// oneInstruction runs one instruction of SQLite for minutes.
const oneInstruction = "select instr(replace(hex(zeroblob(900000)), '0', 'a'), replace(hex(zeroblob(450000)), '0', 'a') || 'b')"

// A statement that nothing can end inside SQLite releases its session at the end of its call, and ends no other.
func TestAnEndlessStatementGivesItsSessionBack(t *testing.T) {
	s := systems[2]
	p := s.open(t, "reader", sqlcap.Limits{Sessions: 2}, nil)
	open, err := begin(call(t), p, s, 50_000, 0)
	if err != nil || open.Stream == 0 {
		t.Fatalf("got stream %d, %v", open.Stream, cause(err))
	}
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, err := query(ctx, p, oneInstruction)
		if cancel(); abi.CodeOf(err) != abi.CodeDeadline {
			t.Errorf("got %v", cause(err))
		}
		if got, err := query(call(t), p, "select count(*) from users"); err != nil || show(got.Rows) != "3" {
			t.Errorf("afterwards: got %s, %v", show(got.Rows), cause(err))
		}
	}
}

// Of several calls one has a statement that does not end: the others get their answers.
func TestAnEndlessStatementBesideOthers(t *testing.T) {
	p := systems[2].open(t, "reader", sqlcap.Limits{Sessions: 3, Wait: time.Minute}, nil)
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := query(ctx, p, oneInstruction); abi.CodeOf(err) != abi.CodeDeadline {
			t.Errorf("got %v", cause(err))
		}
	})
	for range 4 {
		running.Go(func() {
			for range 50 {
				if got, err := query(call(t), p, "select count(*) from users"); err != nil || show(got.Rows) != "3" {
					t.Errorf("got %s, %v", show(got.Rows), cause(err))
				}
			}
		})
	}
}

// A database that changes to another mode has files that the session knows nothing of: it is queried all the same.
func TestADatabaseThatChangesItsMode(t *testing.T) {
	file := t.TempDir() + "/users.db"
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	s := &system{name: "sqlite", urls: map[string]string{"reader": "sqlite:" + file}}
	exec := func(statement string) {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	exec("create table users (id integer primary key)")
	p := s.open(t, "reader", sqlcap.Limits{Sessions: 1}, nil)
	for i, mode := range []string{"delete", "persist", "wal"} {
		exec("pragma journal_mode=" + mode)
		exec("insert into users default values")
		for range 2 {
			got, err := query(call(t), p, "select count(*) from users")
			if want := strconv.Itoa(i + 1); err != nil || show(got.Rows) != want {
				t.Errorf("%s: got %s, %v, want %s", mode, show(got.Rows), cause(err), want)
			}
		}
	}
}
