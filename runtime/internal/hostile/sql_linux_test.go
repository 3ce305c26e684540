package hostile_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite", which makes the database

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
)

// ctes returns common table expressions each of which uses the one before twice.
func ctes(n int, first, format string) string {
	parts := []string{"c0(x) as " + first}
	for i := 1; i <= n; i++ {
		parts = append(parts, fmt.Sprintf("c%d(x) as "+format, i, i-1, i-1))
	}
	return fmt.Sprintf("with %s select count(*) from c%d", strings.Join(parts, ", "), n)
}

// object returns an expression for a JSON object of n keys.
func object(n int, prefix string) string {
	return fmt.Sprintf("(with recursive n(i) as (select 1 union all select i + 1 from n limit %d) select json_group_object('%s' || i, i) from n)", n, prefix)
}

// statements are those that SQLite does not interrupt: one instruction, or the compilation, takes longer than the call;
// and one that takes all the memory there is.
var statements = map[string]string{
	"instr":      "select instr(replace(hex(zeroblob(900000)), '0', 'a'), replace(hex(zeroblob(450000)), '0', 'a') || 'b')",
	"replace":    "select length(replace(replace(hex(zeroblob(900000)), '0', 'a'), replace(hex(zeroblob(450000)), '0', 'a') || 'b', 'x'))",
	"json_patch": "select length(json_patch(" + object(60_000, "a") + ", " + object(60_000, "b") + "))",
	"like":       "select replace(hex(zeroblob(900000)), '0', 'a') like '%' || replace(hex(zeroblob(490)), '0', 'a') || 'b' from (select 1 union all select 2 union all select 3)",
	"compile":    ctes(16, "not materialized (select 1 union all select 2)", "not materialized (select a.x from c%d a, c%d b)"),
	"union all":  ctes(17, "(select 1)", "(select x from c%d union all select x from c%d)"),
	"sort":       "with recursive c(x) as (select 1 union all select x + 1 from c) select zeroblob(1000000), x from c order by 2 desc",
}

const (
	sqlTime   = 400 * time.Millisecond // of a call
	sqlGrace  = 100 * time.Millisecond // by which a call may be late
	sqlMemory = 256 << 20              // bytes of a helper process
)

// A statement ends with its call, whatever it does, and leaves its slot to the next one.
func TestStatementsEndWithTheirCall(t *testing.T) {
	alone(t)
	power := openSQL(t)
	for name, statement := range statements {
		t.Run(name, func(t *testing.T) {
			if _, err := askSQL(t, power, "select 1", time.Minute); err != nil { // has the helper started
				t.Fatal(err)
			}
			most, stop := watchHelpers(t)
			took, err := askSQL(t, power, statement, sqlTime)
			for tries := 1; tries < 4 && took > sqlTime+sqlGrace; tries++ { // the machine may be busy
				t.Logf("try %d took %v", tries, took)
				took, err = askSQL(t, power, statement, sqlTime)
			}
			stop()
			if code := abi.CodeOf(err); code != abi.CodeDeadline && code != abi.CodeTooLarge {
				t.Errorf("it ends with %v", err)
			}
			if took > sqlTime+sqlGrace {
				t.Errorf("it took %v, its call has %v", took, sqlTime)
			}
			if *most > sqlMemory {
				t.Errorf("the helper took %d MiB", *most>>20)
			}
			if _, err := askSQL(t, power, "select 1", time.Minute); err != nil {
				t.Errorf("the next statement: %v", err)
			}
		})
	}
}

// openSQL grants an empty database, one session of it.
func openSQL(t *testing.T) *sqlcap.SQL {
	t.Helper()
	file := filepath.Join(t.TempDir(), "some.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("create table t (x)"); err != nil {
		t.Fatal(err)
	}
	dsn, err := sqlcap.ParseDSN("sqlite:" + file)
	if err != nil {
		t.Fatal(err)
	}
	power, err := sqlcap.Open(sqlcap.Config{Connections: map[string]sqlcap.Connection{
		"main": {DSN: dsn, Limits: sqlcap.Limits{Sessions: 1, Timeout: time.Minute}},
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := power.Close(); err != nil {
			t.Error(err)
		}
	})
	return power
}

// askSQL runs a statement in a call of its own and tells how long that took.
func askSQL(t *testing.T, power *sqlcap.SQL, statement string, limit time.Duration) (time.Duration, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	request := (&abi.SQLRequest{Connection: "main", Query: statement}).Append(nil)
	began := time.Now()
	_, err := power.Services()[abi.ServiceSQL].Call(ctx, request)
	return time.Since(began), err
}

// watchHelpers looks at the memory of this process's SQLite helpers until stop, and keeps the most that one has.
func watchHelpers(t *testing.T) (most *int, stop func()) {
	t.Helper()
	most = new(int)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-quit:
				tick.Stop()
				return
			case <-tick.C:
				*most = max(*most, helperMemory())
			}
		}
	}()
	return most, func() { close(quit); <-done }
}

// helperMemory returns the bytes of the largest SQLite helper of this process.
func helperMemory() (most int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if name, _ := os.ReadFile(file); !bytes.Equal(name, []byte("wasmres-sqlite\x00")) {
			continue
		}
		text, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "status")) // empty when it has ended
		if field(string(text), "PPid") == os.Getpid() {
			most = max(most, field(string(text), "VmHWM")<<10)
		}
	}
	return most
}

// field returns a number in the status of a process; 0 when it has none.
func field(status, name string) int {
	_, rest, _ := strings.Cut(status, name+":")
	words := strings.Fields(rest)
	if len(words) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(words[0])
	return n
}
