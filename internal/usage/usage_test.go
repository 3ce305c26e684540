package usage_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/internal/childtest"
	"github.com/wasmres/wasmres/internal/usage"
)

func open(tb testing.TB, c usage.Config) *usage.Book {
	tb.Helper()
	b, err := usage.Open(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = b.Close() })
	return b
}

func none() usage.Processes { return usage.Processes{} }

// all is every hour that there may be.
var all = usage.Query{To: time.Unix(1<<40, 0), By: usage.Hour}

func read(tb testing.TB, b *usage.Book, q usage.Query) []usage.Row {
	tb.Helper()
	rows, err := b.Read(tb.Context(), q)
	if err != nil {
		tb.Fatal(err)
	}
	return rows
}

func TestUsageIsCountedByTheHour(t *testing.T) {
	file := filepath.Join(t.TempDir(), "usage.db")
	var now atomic.Int64
	at := func(hour string) {
		t.Helper()
		when, err := time.Parse(time.RFC3339, hour)
		if err != nil {
			t.Fatal(err)
		}
		now.Store(when.UnixNano())
	}
	at("2026-11-30T22:59:55Z")
	c := usage.Config{File: file, Now: func() time.Time { return time.Unix(0, now.Load()) }}
	b := open(t, c)
	var processes atomic.Pointer[usage.Processes]
	processes.Store(&usage.Processes{})
	m := b.Meter(usage.Key{Tenant: "acme", Provider: "notes", Version: 2}, func() usage.Processes { return *processes.Load() })
	m.Call(usage.OK, 10, time.Second, 100)
	m.Call(usage.Failed, 5, -time.Second, 0)
	m.CPU(time.Millisecond)
	m.CPU(-time.Second)
	b.Request("acme", usage.OK, 120)
	b.Request("acme", usage.Limited, -1)
	processes.Store(&usage.Processes{Starts: 3, Live: 5 * time.Second, Memory: 5 << 20, Peak: 2 << 20})
	b.Store("acme", usage.Storage{Modules: 100, Logs: 7})
	at("2026-11-30T23:00:00Z")
	if err := b.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.Call(usage.OK, 1, 0, 1)
	processes.Store(&usage.Processes{Starts: 4, Live: 6 * time.Second, Memory: 6 << 20, Peak: 1 << 20})
	b.Store("acme", usage.Storage{Modules: 60, KV: 40})
	m.Close()
	m.Close()
	at("2026-11-30T23:00:04Z")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	at("2026-12-01T00:00:00Z")
	b = open(t, c)
	b.Request("acme", usage.Refused, 1)
	b.Request("beta", usage.OK, 0)

	utc := func(s string) time.Time { parsed, _ := time.Parse(time.RFC3339, s); return parsed }
	clients, notes, beta := usage.Key{Tenant: "acme"}, usage.Key{Tenant: "acme", Provider: "notes", Version: 2}, usage.Key{Tenant: "beta"}
	row := func(k usage.Key, begin string, t usage.Totals) usage.Row {
		return usage.Row{Key: k, Begin: utc(begin), Totals: t}
	}
	requests := usage.Totals{Bytes: 120, Stored: usage.Storage{Modules: 100, Logs: 7}}
	later := usage.Totals{Stored: usage.Storage{Modules: 60, KV: 40}, StoredTime: 100 * 5}
	requests.Requests[usage.OK], requests.Requests[usage.Limited] = 1, 1
	first := usage.Totals{Fuel: 15, CPU: 1001 * time.Millisecond, Starts: 3, Bytes: 100, Memory: 5 << 20, Live: 5 * time.Second, Peak: 2 << 20}
	first.Requests[usage.OK], first.Requests[usage.Failed] = 1, 1
	second := usage.Totals{Fuel: 1, Starts: 1, Bytes: 1, Memory: 1 << 20, Live: time.Second, Peak: 1 << 20}
	second.Requests[usage.OK] = 1
	refused, ok := usage.Totals{Bytes: 1}, usage.Totals{}
	refused.Requests[usage.Refused], ok.Requests[usage.OK] = 1, 1
	want := []usage.Row{
		row(clients, "2026-11-30T22:00:00Z", requests), row(notes, "2026-11-30T22:00:00Z", first), row(clients, "2026-11-30T23:00:00Z", later), row(notes, "2026-11-30T23:00:00Z", second),
		row(clients, "2026-12-01T00:00:00Z", refused), row(beta, "2026-12-01T00:00:00Z", ok),
	}
	if diff := cmp.Diff(want, read(t, b, all)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	november := usage.Query{From: utc("2026-11-01T00:00:00Z"), To: utc("2026-12-01T00:00:00Z")}
	both := usage.Totals{Fuel: 16, CPU: 1001 * time.Millisecond, Starts: 4, Bytes: 101, Memory: 6 << 20, Live: 6 * time.Second, Peak: 2 << 20}
	requests.Stored, requests.StoredTime = usage.Storage{Modules: 100, KV: 40, Logs: 7}, 500
	both.Requests[usage.OK], both.Requests[usage.Failed] = 2, 1
	months := []usage.Row{row(clients, "2026-11-01T00:00:00Z", requests), row(notes, "2026-11-01T00:00:00Z", both)}
	if diff := cmp.Diff(months, read(t, b, november)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	november.By, november.Tenant, november.After, november.Limit = usage.Day, "acme", &usage.Row{Key: clients, Begin: utc("2026-11-30T00:00:00Z")}, 1
	if got := read(t, b, november); len(got) != 1 || got[0].Provider != "notes" || got[0].Starts != 4 || !got[0].Begin.Equal(utc("2026-11-30T00:00:00Z")) {
		t.Errorf("by day: %+v", got)
	}
	others, err := usage.ReadFile(t.Context(), file, all) // while the Book is open
	if diff := cmp.Diff(want, others); err != nil || diff != "" {
		t.Errorf("%v, want -, got +:\n%s", err, diff)
	}
	if _, err := b.Read(t.Context(), usage.Query{By: "year"}); err == nil {
		t.Error("there is a period year")
	}
}

func TestNothingIsLostBetweenGoroutines(t *testing.T) {
	b := open(t, usage.Config{File: filepath.Join(t.TempDir(), "usage.db")})
	var counting sync.WaitGroup
	for i := range 8 {
		counting.Go(func() {
			for n := range 200 {
				b.Request("acme", usage.OK, 1)
				m := b.Meter(usage.Key{Tenant: "acme", Provider: fmt.Sprint("p", i%2)}, func() usage.Processes { return usage.Processes{Starts: 1} })
				m.Call(usage.OK, 1, 1, 1)
				m.Close()
				if n%50 == 0 {
					if err := b.Flush(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	counting.Wait()
	var requests, calls, starts uint64
	for _, r := range read(t, b, all) {
		if r.Provider == "" {
			requests += r.Requests[usage.OK]
		} else {
			calls, starts = calls+r.Requests[usage.OK], starts+r.Starts
		}
	}
	if requests != 1600 || calls != 1600 || starts != 1600 {
		t.Errorf("got %d requests, %d calls, %d starts", requests, calls, starts)
	}
}

// A file of the first version is brought up to date, and keeps its rows.
func TestAnOldFileIsBroughtUpToDate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "usage.db")
	db, err := sql.Open("sqlite", file)
	if err == nil {
		_, err = db.Exec(`PRAGMA application_id = 2003989875;
			CREATE TABLE usage (hour INTEGER NOT NULL, tenant TEXT NOT NULL, provider TEXT NOT NULL, version INTEGER NOT NULL,
			ok INTEGER NOT NULL, refused INTEGER NOT NULL, limited INTEGER NOT NULL, failed INTEGER NOT NULL, fuel INTEGER NOT NULL,
			cpu INTEGER NOT NULL, starts INTEGER NOT NULL, bytes INTEGER NOT NULL, memory INTEGER NOT NULL,
			PRIMARY KEY (hour, tenant, provider, version)) STRICT, WITHOUT ROWID;
			CREATE TABLE flush (seq INTEGER NOT NULL) STRICT; INSERT INTO flush VALUES (7);
			INSERT INTO usage VALUES (3600, 'acme', 'notes', 1, 5, 0, 0, 0, 10, 20, 2, 30, 40); PRAGMA user_version = 1;`)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := usage.ReadFile(t.Context(), file, all); err == nil || !strings.Contains(err.Error(), "an older wasmres") {
		t.Errorf("got %v", err)
	}
	for range 2 {
		b := open(t, usage.Config{File: file})
		got := read(t, b, all)
		if len(got) != 1 || got[0].Requests[usage.OK] != 5 || got[0].Memory != 40 || got[0].Peak != 0 {
			t.Errorf("got %+v", got)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := usage.ReadFile(t.Context(), file, all); err != nil || len(got) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAnotherFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("This is not a database, but it is long enough to be taken for one, or so it seems, or so it seems."), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "foreign")
	db, err := sql.Open("sqlite", foreign)
	if err == nil {
		_, err = db.Exec("CREATE TABLE x (y)")
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{text, foreign} {
		if b, err := usage.Open(t.Context(), usage.Config{File: file}); err == nil {
			t.Errorf("%s was opened", file)
			_ = b.Close()
		}
		if _, err := usage.ReadFile(t.Context(), file, all); err == nil {
			t.Errorf("%s was read", file)
		}
	}
	if _, err := usage.ReadFile(t.Context(), filepath.Join(dir, "none"), all); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestMain(m *testing.M) {
	role := map[string]func(*usage.Book) error{"count": count, "overflow": overflow}[childtest.Role()]
	if role == nil {
		os.Exit(m.Run())
	}
	b, err := usage.Open(context.Background(), usage.Config{File: os.Args[1]})
	if err == nil {
		err = errors.Join(role(b), b.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// count counts requests, and prints how many are written.
func count(b *usage.Book) error {
	for n := 1; ; n++ {
		b.Request("acme", usage.OK, 1)
		if err := b.Flush(context.Background()); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// overflow counts while the file cannot grow; then there is room again.
func overflow(b *usage.Book) error {
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 40 << 10, Max: before.Max}); err != nil {
		return err
	}
	failed := 0
	for n := range 300 {
		b.Request(fmt.Sprint("tenant", n), usage.OK, 1)
		if b.Flush(context.Background()) != nil {
			failed++
		}
	}
	if failed == 0 {
		return errors.New("the disk was never full")
	}
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before)
}

func requestsOf(t *testing.T, file string) (n uint64) {
	t.Helper()
	rows, err := usage.ReadFile(t.Context(), file, all)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		n += r.Requests[usage.OK]
	}
	return n
}

// A process is killed while it counts, again and again: what it has written is there once.
func TestNothingIsCountedTwiceWhenAProcessIsKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "usage.db")
	before := uint64(0)
	for range 10 {
		process, output, end := childtest.Start(t, "count", file)
		left, written := rand.IntN(20), uint64(0)
		for lines := bufio.NewScanner(output); lines.Scan(); {
			if _, err := fmt.Sscan(lines.Text(), &written); err != nil {
				t.Fatal(err)
			}
			if left--; left < 0 {
				_ = process.Kill() // its output until then is read to the end
			}
		}
		if end(); left >= 0 {
			t.Fatal("the child ended by itself")
		}
		now := requestsOf(t, file)
		if now < before+written || now > before+written+1 {
			t.Fatalf("%d requests were written before, and %d now; there are %d", before, written, now)
		}
		before = now
	}
}

func TestAFullDiskLosesNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "usage.db")
	_, _, end := childtest.Start(t, "overflow", file)
	end()
	if n := requestsOf(t, file); n != 300 {
		t.Errorf("got %d requests, want 300", n)
	}
}

func BenchmarkCount(b *testing.B) {
	book := open(b, usage.Config{File: filepath.Join(b.TempDir(), "usage.db")})
	m := book.Meter(usage.Key{Tenant: "acme", Provider: "notes"}, none)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			book.Request("acme", usage.OK, 100)
			m.Call(usage.OK, 1000, time.Microsecond, 100)
		}
	})
}
