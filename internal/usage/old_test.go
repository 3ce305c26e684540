package usage_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/usage"
)

// Rows older than thirteen months are removed, and rows age by hours that have some: not by years for which no server ran.
func TestOldRowsAreRemoved(t *testing.T) {
	now := time.Date(2026, 11, 30, 22, 59, 59, 999_000_000, time.UTC) // a millisecond before rows are written
	const days, kept = 450, 399
	for name, gap := range map[string]int{"each day": 0, "after two years without a server": 730} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "usage.db")
			b := open(t, usage.Config{File: file, Now: func() time.Time { return now.Add(-time.Minute) }})
			var rows []usage.Left
			for day := range days {
				hour := now.Truncate(time.Hour).AddDate(0, 0, -day-1)
				if day >= 100 {
					hour = hour.AddDate(0, 0, -gap)
				}
				rows = append(rows, usage.Left{Key: usage.Key{Tenant: "acme"}, Hour: hour.Unix(), Totals: usage.Totals{Requests: [4]uint64{usage.OK: 1}}})
			}
			b.Add(rows)
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			open(t, usage.Config{File: file, Now: func() time.Time { return now }})
			want := uint64(kept)
			if gap > 0 {
				want -= 6 // which count for a week
			}
			until := time.Now().Add(time.Minute)
			for n := counted(t, file); (n == 0 || n == days) && time.Now().Before(until); n = counted(t, file) {
				time.Sleep(5 * time.Millisecond)
			}
			if got := counted(t, file); got != want {
				t.Errorf("got %d rows, want %d", got, want)
			}
		})
	}
}
