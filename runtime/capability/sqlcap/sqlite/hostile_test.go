package sqlite_test

import (
	"context"
	"fmt"
	"os"
	goruntime "runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/sqlite"
)

// endless runs one instruction for minutes: instr compares 450,000 bytes at each of as many places.
const endless = "select instr(replace(hex(zeroblob(900000)), '0', 'a'), replace(hex(zeroblob(450000)), '0', 'a') || 'b')"

// A statement that does not end is ended with its call, or at its timeout, and no other session is.
func TestAnEndlessStatementEndsAlone(t *testing.T) {
	d := open(t, makeFile(t))
	other := connect(t, d)
	columns, err := other.Query(t.Context(), many(20_000))
	if err != nil {
		t.Fatal(cause(err))
	}
	for _, how := range []string{"deadline", "cancelled", "timeout"} {
		s := connect(t, d)
		ctx, cancel := context.WithCancel(t.Context())
		timeout, want := time.Minute, abi.CodeDeadline
		switch how {
		case "deadline":
			ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
		case "cancelled":
			time.AfterFunc(200*time.Millisecond, cancel)
			want = abi.CodeCancelled
		case "timeout":
			timeout = 200 * time.Millisecond
		}
		_, err := s.Query(ctx, &database.Statement{Query: endless, Timeout: timeout})
		cancel()
		if abi.CodeOf(err) != want {
			t.Errorf("%s: got %s", how, cause(err))
		}
		<-sqlite.Ended(s)
		if err := s.Reset(t.Context()); err == nil {
			t.Errorf("%s: the session is to be used again", how)
		}
	}
	row, n := make([]abi.SQLValue, len(columns)), 0
	for ; err == nil; n++ {
		err = other.Next(row)
	}
	if n-1 != 20_000 {
		t.Errorf("the other session gives %d rows: %s", n-1, cause(err))
	}
	if rows, err := all(t.Context(), connect(t, d), time.Minute, "select name from users"); err != nil || len(rows) != 3 {
		t.Errorf("afterwards: got %v, %s", rows, cause(err))
	}
}

// many returns rows of one number.
func many(n int64) *database.Statement {
	return &database.Statement{
		Query:   "with recursive c(x) as (select 1 union all select x + 1 from c limit ?1) select x from c",
		Args:    []abi.SQLValue{{Kind: abi.SQLInt, Int: n}},
		Timeout: time.Minute,
	}
}

// Closing the driver ends the statements that run.
func TestClosingEndsStatements(t *testing.T) {
	d := open(t, makeFile(t))
	s := connect(t, d)
	failed := make(chan error, 1)
	go func() {
		_, err := s.Query(context.Background(), &database.Statement{Query: endless, Timeout: time.Hour})
		failed <- err
	}()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := <-failed; err == nil {
		t.Error("the statement has ended by itself")
	}
	if _, err := d.Connect(t.Context()); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Errorf("a session of a closed driver: got %v", err)
	}
}

// Statements that use too much memory get an error, or end their helper.
func TestMemoryIsBounded(t *testing.T) {
	if goruntime.GOOS != "linux" {
		t.Skip("without Linux only what SQLite counts is bounded")
	}
	file := makeFile(t)
	for name, statement := range map[string]string{
		"rows":     "with recursive c(x) as (select 1 union all select x + 1 from c) select zeroblob(1000000), x from c order by 2 desc",
		"distinct": "with recursive c(x) as (select 1 union all select x + 1 from c) select distinct zeroblob(x * 20000) from c",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := connect(t, open(t, file))
			before := status(t, sqlite.PID(s), "VmHWM")
			_, err := all(t.Context(), s, time.Minute, statement)
			if abi.CodeOf(err) != abi.CodeTooLarge {
				t.Errorf("got %s", cause(err))
			}
			select {
			case <-sqlite.Ended(s):
			default:
				if took := status(t, sqlite.PID(s), "VmHWM") - before; took > sqlite.ChildMemory {
					t.Errorf("it took %d MiB, the most is %d", took>>20, sqlite.ChildMemory>>20)
				}
			}
		})
	}
}

// status returns a size in the status of a process, in bytes.
func status(t *testing.T, pid int, field string) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), field+":")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}
