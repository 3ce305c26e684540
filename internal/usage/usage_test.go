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

func none() (starts, memory uint64) { return 0, 0 }

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
	var starts, memory atomic.Uint64
	m := b.Meter(usage.Key{Tenant: "acme", Provider: "notes", Version: 2}, func() (uint64, uint64) { return starts.Load(), memory.Load() })
	m.Call(usage.OK, 10, time.Second, 100)
	m.Call(usage.Failed, 5, -time.Second, 0)
	b.Request("acme", usage.OK, 120)
	b.Request("acme", usage.Limited, -1)
	starts.Store(3)
	memory.Store(1 << 20)
	at("2026-11-30T23:00:00Z")
	if err := b.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.Call(usage.OK, 1, 0, 1)
	starts.Store(4)
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
	requests := usage.Totals{Bytes: 120}
	requests.Requests[usage.OK], requests.Requests[usage.Limited] = 1, 1
	first := usage.Totals{Fuel: 15, CPU: time.Second, Starts: 3, Bytes: 100, Memory: 5 << 20}
	first.Requests[usage.OK], first.Requests[usage.Failed] = 1, 1
	second := usage.Totals{Fuel: 1, Starts: 1, Bytes: 1}
	second.Requests[usage.OK] = 1
	refused, ok := usage.Totals{Bytes: 1}, usage.Totals{}
	refused.Requests[usage.Refused], ok.Requests[usage.OK] = 1, 1
	want := []usage.Row{
		row(clients, "2026-11-30T22:00:00Z", requests), row(notes, "2026-11-30T22:00:00Z", first), row(notes, "2026-11-30T23:00:00Z", second),
		row(clients, "2026-12-01T00:00:00Z", refused), row(beta, "2026-12-01T00:00:00Z", ok),
	}
	if diff := cmp.Diff(want, read(t, b, all)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	november := usage.Query{From: utc("2026-11-01T00:00:00Z"), To: utc("2026-12-01T00:00:00Z")}
	both := usage.Totals{Fuel: 16, CPU: time.Second, Starts: 4, Bytes: 101, Memory: 5 << 20}
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
				m := b.Meter(usage.Key{Tenant: "acme", Provider: fmt.Sprint("p", i%2)}, func() (uint64, uint64) { return 1, 0 })
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
