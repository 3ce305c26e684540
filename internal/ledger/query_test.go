package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/ledger"
)

// selected returns the numbers of all entries that fit a query, by its pages.
func selected(t *testing.T, read func(context.Context, ledger.Query) (ledger.Found, error), q ledger.Query) (all []uint64) {
	t.Helper()
	for pages := 0; pages == 0 || q.After != 0; pages++ {
		found, err := read(t.Context(), q)
		if err != nil || len(found.Lines) > q.Limit || pages > 500 {
			t.Fatalf("page %d of %+v: %d lines, %v", pages, q, len(found.Lines), err)
		}
		for _, l := range found.Lines {
			all = append(all, l.Seq)
		}
		q.After = found.Next
	}
	return all
}

// Each query finds by its pages, in both orders, what reading the whole ledger finds.
func TestQueriesFindTheirEntries(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes many entries")
	}
	c := configOf(t.TempDir())
	begin := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	var hours atomic.Int64
	c.Now = func() time.Time { return begin.Add(time.Duration(hours.Load()) * time.Hour) }
	l := open(t, c)
	for n := range 60 {
		hours.Store(int64(n))
		e := ledger.Entry{
			Actor: fmt.Sprintf("uid %d", n%3), Tenant: []string{"acme", `b"<`, ""}[n%3], Action: []string{"key.create", "key.use", "keyring"}[n%3],
			Before: `{"tenant":"acme"}`, After: strings.Repeat("x", n%7*100),
		}
		if err := l.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	inDir := func(ctx context.Context, q ledger.Query) (ledger.Found, error) { return ledger.Select(ctx, c.Dir, q) }
	for _, one := range []struct {
		q    ledger.Query
		fits func(l *ledger.Line) bool
	}{
		{ledger.Query{}, func(*ledger.Line) bool { return true }},
		{ledger.Query{Tenant: "acme"}, func(l *ledger.Line) bool { return l.Tenant == "acme" }},
		{ledger.Query{Tenant: `b"<`, Actor: "uid 1"}, func(l *ledger.Line) bool { return l.Tenant == `b"<` }},
		{ledger.Query{Actor: "uid"}, func(*ledger.Line) bool { return false }},
		{ledger.Query{Action: "key.use"}, func(l *ledger.Line) bool { return l.Action == "key.use" }},
		{ledger.Query{Action: "key."}, func(l *ledger.Line) bool { return l.Action != "keyring" }},
		{ledger.Query{Action: "key"}, func(*ledger.Line) bool { return false }},
		{ledger.Query{From: begin.Add(10 * time.Hour), To: begin.Add(20 * time.Hour)}, func(l *ledger.Line) bool { return l.Seq > 10 && l.Seq <= 20 }},
	} {
		var want []uint64
		if err := ledger.Read(c.Dir, func(l *ledger.Line) error {
			if one.fits(l) {
				want = append(want, l.Seq)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for _, limit := range []int{1, 7, 60, 200} {
			for _, read := range []func(context.Context, ledger.Query) (ledger.Found, error){inDir, l.Select} {
				q := one.q
				q.Limit = limit
				if got := selected(t, read, q); !slices.Equal(got, want) {
					t.Errorf("%+v: got %v, want %v", q, got, want)
				}
				q.Newest = true
				got := selected(t, read, q)
				if slices.Reverse(got); !slices.Equal(got, want) {
					t.Errorf("%+v: got %v, want %v", q, got, want)
				}
			}
		}
	}
	for after := range uint64(65) { // also behind the end, and where each file begins
		got := selected(t, inDir, ledger.Query{After: after, Limit: 200})
		if want := max(60-int(after), 0); len(got) != want || want > 0 && got[0] != after+1 {
			t.Errorf("after %d: got %v", after, got)
		}
		if got := selected(t, inDir, ledger.Query{After: after, Limit: 200, Newest: true}); after > 1 && (len(got) == 0 || got[0] != min(after-1, 60)) {
			t.Errorf("before %d: got %v", after, got)
		}
	}
}

func TestSelectFromALedgerWithoutEntries(t *testing.T) {
	c := configOf(t.TempDir())
	l := open(t, c)
	for _, newest := range []bool{false, true} {
		if got, err := l.Select(t.Context(), ledger.Query{Newest: newest}); err != nil || got.Next != 0 || len(got.Lines) != 0 {
			t.Errorf("got %+v, %v", got, err)
		}
	}
}

// An entry that was not written to its end is not there yet.
func TestSelectLeavesOutALineInHalf(t *testing.T) {
	c, files := written(t)
	names := segmentsOf(files)
	newest := names[len(names)-1]
	for _, more := range []string{`{`, `{"seq":14,`, `{"seq":14,"time":"2026`} {
		changed := maps.Clone(files)
		changed[newest] += more
		plant(t, c.Dir, changed)
		for _, isNewest := range []bool{false, true} {
			got, err := ledger.Select(t.Context(), c.Dir, ledger.Query{Newest: isNewest})
			if err != nil || len(got.Lines) != 13 || got.Next != 0 {
				t.Errorf("got %d lines, %v", len(got.Lines), err)
			}
		}
	}
}

// No entry is answered that was changed, nor are entries that do not follow on each other.
func TestSelectRefusesDamage(t *testing.T) {
	c, files := written(t)
	names := segmentsOf(files)
	for _, name := range names {
		text := files[name]
		for at := 0; at < len(text); at += 37 {
			changed := []byte(text)
			changed[at] ^= 1
			if err := os.WriteFile(filepath.Join(c.Dir, name), changed, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, isNewest := range []bool{false, true} {
				var damage *ledger.DamageError
				_, err := ledger.Select(t.Context(), c.Dir, ledger.Query{Newest: isNewest})
				if !errors.As(err, &damage) || !strings.HasPrefix(damage.File, c.Dir) {
					t.Fatalf("%s, byte %d: %v", name, at, err)
				}
			}
		}
		if err := os.WriteFile(filepath.Join(c.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.SplitAfter(files[names[0]], "\n")
	if err := os.WriteFile(filepath.Join(c.Dir, names[0]), []byte(lines[0]+strings.Join(lines[2:], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, isNewest := range []bool{false, true} {
		if got, err := ledger.Select(t.Context(), c.Dir, ledger.Query{Newest: isNewest}); err == nil {
			t.Errorf("without the second entry: %d lines", len(got.Lines))
		}
	}
}
