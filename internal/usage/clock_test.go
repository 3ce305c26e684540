package usage_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/usage"
)

// When the clock is set, forward by ten years or back by a day, while a server runs or before it starts, each request is counted once,
// and no earlier row is taken for one that is too old.
func TestAClockThatIsSet(t *testing.T) {
	right := time.Date(2026, 11, 30, 22, 59, 59, 999_000_000, time.UTC) // a millisecond before rows are written
	wrong, back := right.AddDate(10, 0, 0), right.AddDate(0, 0, -1)
	for name, runs := range map[string][][]time.Time{
		"while a server runs": {{right, wrong, back}, {back, wrong, right}},
		"before it starts":    {{right}, {wrong, right}, {back, right}},
		"before two starts":   {{right}, {wrong}, {wrong.Add(time.Hour)}, {right}},
	} {
		t.Run(name, func(t *testing.T) {
			var now atomic.Int64
			c := usage.Config{File: filepath.Join(t.TempDir(), "usage.db"), Now: func() time.Time { return time.Unix(0, now.Load()) }}
			n := uint64(0)
			for _, steps := range runs {
				now.Store(steps[0].UnixNano())
				b := open(t, c)
				for _, at := range steps {
					now.Store(at.UnixNano())
					n++
					b.Request("acme", usage.OK, 1)
					for until := time.Now().Add(20 * time.Second); counted(t, c.File) < n && time.Now().Before(until); { // until the book has written it
					}
				}
				if err := b.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if got := counted(t, c.File); got != n {
				t.Errorf("got %d requests, want %d", got, n)
			}
		})
	}
}

// counted returns how many requests a file has.
func counted(t *testing.T, file string) (all uint64) {
	t.Helper()
	rows, err := usage.ReadFile(t.Context(), file, usage.Query{To: time.Unix(1<<40, 0), By: usage.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		all += r.Requests[usage.OK]
	}
	return all
}
