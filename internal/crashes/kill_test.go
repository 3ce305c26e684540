package crashes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/childtest"
	"github.com/wasmres/wasmres/internal/crashes"
)

func TestMain(m *testing.M) {
	if childtest.Role() == "" {
		os.Exit(m.Run())
	}
	if err := report(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// report counts two crashes of which one is known already, and records a session of it.
func report(dir string) error {
	s, err := crashes.Open(crashes.Config{Dir: dir})
	if err != nil {
		return err
	}
	for range 2 {
		s.Add(crash("acme", 1), makes("recorded"))
	}
	s.Add(crash("acme", 2), nil)
	return s.Close()
}

// A process is killed before each of its changes of a file: each report is as it was before or after, and none is lost.
func TestKilledAtEachStep(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a process for each step")
	}
	prepare := func() string {
		dir := t.TempDir()
		s := open(t, dir)
		for range 5 {
			s.Add(crash("acme", 1), nil)
		}
		s.Add(crash("acme", 3), makes("kept"))
		closing(t, s)
		return dir
	}
	kills := childtest.KillAtEachStep(t, "report", 1, prepare, func(dir, step string) {
		s := open(t, dir)
		counts := map[uint32]uint64{}
		for _, r := range list(t, s, "acme") {
			counts[r.Stack[0].Function] = r.Count
			text, err := s.Session(r)
			if r.Session > 0 && (err != nil || len(text) != r.Session || !strings.Contains(string(text), r.ID)) {
				t.Errorf("%s: the session of %s has %d bytes, %v, want %d", step, r.ID, len(text), err, r.Session)
			}
			if r.Stack[0].Function == 3 && r.Session == 0 {
				t.Errorf("%s: a session that was there is gone", step)
			}
		}
		if one, two, three := counts[1], counts[2], counts[3]; one < 5 || one > 7 || two > 1 || three != 1 {
			t.Errorf("%s: the counts are %v", step, counts)
		}
		s.Add(crash("acme", 1), makes("again")) // the store goes on, and removes what was left
		closing(t, s)
		left, err := os.ReadDir(filepath.Join(dir, "tenants", "acme", "crashes"))
		if want := len(counts) + 2; err != nil || len(left) != want {
			t.Errorf("%s: left are %v, %v, want %d files", step, left, err, want)
		}
	})
	if kills < 10 {
		t.Errorf("%d children were killed", kills)
	}
	t.Logf("%d children were killed", kills)
}
