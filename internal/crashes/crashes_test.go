package crashes_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/crashes"
)

// open opens a store, which the test closes.
func open(t *testing.T, dir string) *crashes.Store {
	t.Helper()
	s, err := crashes.Open(crashes.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closing(t *testing.T, s *crashes.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// crash returns a crash in a function.
func crash(tenant string, function uint32) crashes.Report {
	return crashes.Report{
		Tenant: tenant, Provider: "notes", Digest: "sha256:00", Code: "trap", Op: "read", Stack: []crashes.Frame{{Function: function, Name: "main.f"}}, Fuel: 7,
	}
}

func makes(text string) crashes.Maker {
	return func(comment string) ([]byte, string) { return []byte(comment + text), "" }
}

func list(t *testing.T, s *crashes.Store, tenant string) []crashes.Report {
	t.Helper()
	all, err := s.List(tenant)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Crashes of one kind are counted together, over restarts, and one of them has a session.
func TestCrashesAreCountedByWhatTheyAre(t *testing.T) {
	dir := t.TempDir()
	for run := range 3 {
		s := open(t, dir)
		for range 5 {
			s.Add(crash("acme", 1), makes(fmt.Sprint("run ", run)))
		}
		s.Add(crash("acme", 2), nil)
		s.Add(crash("other", 1), nil)
		closing(t, s)
	}
	s := open(t, dir)
	defer closing(t, s)
	all := list(t, s, "acme")
	if len(all) != 2 || len(list(t, s, "other")) != 1 || len(list(t, s, "absent")) != 0 {
		t.Fatalf("got %+v", all)
	}
	for _, r := range all {
		want := map[uint32]uint64{1: 15, 2: 3}[r.Stack[0].Function]
		if r.Count != want || r.First.After(r.Last) || r.First.IsZero() || (r.Session > 0) != (want == 15) {
			t.Errorf("got %+v, want %d", r, want)
		}
		found, err := s.Find(r.ID, []string{"other", "acme"})
		if err != nil || found.Count != r.Count {
			t.Errorf("got %+v, %v", found, err)
		}
		text, err := s.Session(r)
		if want == 15 && (err != nil || !strings.HasSuffix(string(text), "run 0")) || want == 3 && !errors.Is(err, crashes.ErrNotFound) {
			t.Errorf("got %q, %v: want the session of the first crash", text, err)
		}
		if _, err := s.Find(r.ID, []string{"other"}); !errors.Is(err, crashes.ErrNotFound) {
			t.Errorf("a tenant sees the crash of another: %v", err)
		}
	}
	if _, err := s.Find("../../acme/secret", []string{"acme"}); !errors.Is(err, crashes.ErrNotFound) {
		t.Error(err)
	}
}

// A tenant has at most so many reports, and so many bytes of sessions; the ones that came last stay.
func TestReportsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes thousands of reports")
	}
	dir := t.TempDir()
	for round := range 4 {
		s := open(t, dir)
		for i := range crashes.MaxReports / 2 {
			s.Add(crash("acme", uint32(1000*round+i)), nil)
		}
		closing(t, s)
	}
	s := open(t, dir)
	big := strings.Repeat("x", 7<<20)
	for i := range 6 {
		r := crash("large", uint32(i))
		s.Add(r, makes(big))
	}
	closing(t, s)
	s = open(t, dir)
	defer closing(t, s)
	all := list(t, s, "acme")
	files, err := os.ReadDir(filepath.Join(dir, "tenants", "acme", "crashes"))
	if err != nil || len(all) != crashes.MaxReports || len(files) != crashes.MaxReports {
		t.Fatalf("got %d reports in %d files, %v", len(all), len(files), err)
	}
	for _, r := range all {
		if r.Stack[0].Function < 2000 {
			t.Errorf("an old report is there: %+v", r)
		}
	}
	bytes := 0
	for _, r := range list(t, s, "large") {
		bytes += r.Session
	}
	if bytes == 0 || bytes > crashes.MaxBytes {
		t.Errorf("got %d bytes of sessions", bytes)
	}
}

// What a process that was killed has left, or another one has written, does no harm.
func TestFilesThatAreNoReportsAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	s.Add(crash("acme", 1), makes("text"))
	closing(t, s)
	folder := filepath.Join(dir, "tenants", "acme", "crashes")
	for name, text := range map[string]string{
		"0123456789abcdef.txtar": "an orphan", ".0123456789abcdef.json-77": "half", "00000000000000ff.json": `{"id": "00000000000000ff", "tenant": "other"}`,
		"00000000000000fe.json": "{", "00000000000000fd.json": strings.Repeat(" ", 2<<20),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, dir)
	defer closing(t, s)
	if all := list(t, s, "acme"); len(all) != 1 || all[0].Count != 1 {
		t.Fatalf("got %+v", all)
	}
	s.Add(crash("acme", 1), nil)
	if _, err := s.Session(list(t, s, "acme")[0]); err != nil { // writes what has changed
		t.Fatal(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 2 {
		t.Errorf("got %v, %v, want one report with its session", left, err)
	}
}

// Where the disk refuses, Add goes on, and the reports are written when it no longer does.
func TestADiskThatRefusesLosesNoCount(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "tenants")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	for range 100 {
		s.Add(crash("acme", 1), makes("text"))
	}
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	closing(t, s)
	s = open(t, dir)
	defer closing(t, s)
	if all := list(t, s, "acme"); len(all) != 1 || all[0].Count != 100 || all[0].Session == 0 {
		t.Errorf("got %+v", all)
	}
}
