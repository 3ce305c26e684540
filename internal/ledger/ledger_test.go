package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/ledger"
)

// configOf is that of a ledger in a folder, with files of a few entries.
func configOf(dir string) ledger.Config {
	return ledger.Config{Dir: filepath.Join(dir, "ledger"), KeyFile: filepath.Join(dir, "node.key"), MaxFile: 2000}
}

func open(t testing.TB, c ledger.Config) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func entry(n int) ledger.Entry {
	return ledger.Entry{Actor: "uid 1000", Via: "socket", Tenant: "acme", Action: "test.count", Object: fmt.Sprint(n), After: `{"roles":["reader"]}`}
}

func appendAll(t testing.TB, l *ledger.Ledger, from, to int) {
	t.Helper()
	for n := from; n <= to; n++ {
		if err := l.Append(t.Context(), entry(n)); err != nil {
			t.Fatal(err)
		}
	}
}

func closeLedger(t testing.TB, l *ledger.Ledger) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// objects returns the objects of all entries with the action test.count.
func objects(t testing.TB, dir string) (found []string) {
	t.Helper()
	seq := uint64(0)
	err := ledger.Read(dir, func(l *ledger.Line) error {
		if seq++; l.Seq != seq {
			t.Errorf("entry %d is at place %d", l.Seq, seq)
		}
		if l.Action == "test.count" {
			found = append(found, l.Object)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func numbers(from, to int) (all []string) {
	for n := from; n <= to; n++ {
		all = append(all, fmt.Sprint(n))
	}
	return all
}

func verify(t testing.TB, dir string) *ledger.Report {
	t.Helper()
	r, err := ledger.Verify(t.Context(), dir, ledger.Expect{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestALedgerGoesOnWhereItEnded(t *testing.T) {
	c := configOf(t.TempDir())
	var log bytes.Buffer
	c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	for i := range 5 {
		l := open(t, c)
		if got := l.Opened().Seq; got != uint64(i*7) {
			t.Errorf("opened at entry %d, want %d", got, i*7)
		}
		appendAll(t, l, i*7+1, i*7+7)
		closeLedger(t, l)
		if err := l.Append(t.Context(), entry(0)); !errors.Is(err, ledger.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	if got, want := objects(t, c.Dir), numbers(1, 35); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	r := verify(t, c.Dir)
	if r.Entries != 35 || r.Signed != 35 || len(r.Keys) != 1 || r.Unended != 0 || r.First.After(r.Last) || r.First.IsZero() {
		t.Errorf("got %+v", r)
	}
	if !strings.Contains(log.String(), r.Head.String()) || !strings.Contains(log.String(), r.Keys[0]) {
		t.Errorf("the log has not the head %s of %s:\n%s", r.Head, r.Keys[0], &log)
	}
	files, err := filepath.Glob(filepath.Join(c.Dir, "0*.jsonl"))
	if err != nil || len(files) < 5 {
		t.Errorf("got %q, %v", files, err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Size() > c.MaxFile || info.Mode() != 0o600 {
			t.Errorf("%s: %d bytes, %v, %v", f, info.Size(), info.Mode(), err)
		}
	}
	if _, err := ledger.Verify(t.Context(), c.Dir, ledger.Expect{Heads: []ledger.Hash{r.Head}, Key: r.Keys[0]}); err != nil {
		t.Error(err)
	}
	for _, e := range []ledger.Expect{{Heads: []ledger.Hash{r.Head, {1}}}, {Key: "ed25519:AAAA"}} {
		if _, err := ledger.Verify(t.Context(), c.Dir, e); err == nil {
			t.Errorf("%v fits", e)
		}
	}
}

func TestEntriesOfOneAppendStandTogether(t *testing.T) {
	c := configOf(t.TempDir())
	l := open(t, c)
	var appending sync.WaitGroup
	for who := range 8 {
		appending.Go(func() {
			for n := range 10 {
				var group []ledger.Entry
				for range 1 + n%3 {
					group = append(group, ledger.Entry{Action: "test.group", Object: fmt.Sprint(who, n)})
				}
				if err := l.Append(t.Context(), group...); err != nil {
					t.Error(err)
				}
				l.Note(ledger.Entry{Action: "test.note"})
			}
		})
	}
	appending.Wait()
	closeLedger(t, l)
	var groups []string
	notes := 0
	err := ledger.Read(c.Dir, func(l *ledger.Line) error {
		if l.Action == "test.note" {
			notes++
		} else {
			groups = append(groups, l.Object)
		}
		return nil
	})
	if err != nil || notes != 80 || len(groups) != 8*(1+2+3)*3+8 {
		t.Errorf("got %d notes, %d entries, %v", notes, len(groups), err)
	}
	if got := len(slices.Compact(groups)); got != 80 {
		t.Errorf("got %d groups", got)
	}
	verify(t, c.Dir)
	if err := l.Append(t.Context(), make([]ledger.Entry, 1001)...); err == nil {
		t.Error("1001 entries were taken")
	}
}

func TestEntriesAreBounded(t *testing.T) {
	c := configOf(t.TempDir())
	l := open(t, c)
	long := strings.Repeat("\u2028\x00é\xff", 4000)
	e := ledger.Entry{Actor: long, Via: long, Tenant: long, Action: long, Object: long, Before: long, After: long, Outcome: long}
	if err := l.Append(t.Context(), e, e); err != nil {
		t.Fatal(err)
	}
	closeLedger(t, l)
	open(t, c)
	if r := verify(t, c.Dir); r.Entries != 2 {
		t.Errorf("got %+v", r)
	}
}

func TestTheGenerationIsThatOfTheNewestEntryWithOne(t *testing.T) {
	c := configOf(t.TempDir())
	l := open(t, c)
	for _, g := range []uint64{0, 3, 0, 0} {
		if err := l.Append(t.Context(), ledger.Entry{Action: "test", Generation: g}); err != nil {
			t.Fatal(err)
		}
	}
	closeLedger(t, l)
	if got := open(t, c).Opened(); got.Generation != 3 || got.Seq != 4 {
		t.Errorf("got %+v", got)
	}
	var got []uint64
	if err := ledger.Read(c.Dir, func(l *ledger.Line) error { got = append(got, l.Generation); return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []uint64{0, 3, 3, 3}) {
		t.Errorf("got %v", got)
	}
}

func TestOneProcessHasALedger(t *testing.T) {
	c := configOf(t.TempDir())
	open(t, c)
	if _, err := ledger.Open(c); err == nil || !strings.Contains(err.Error(), "another process has locked") {
		t.Errorf("got %v", err)
	}
}

func TestKeysAreChecked(t *testing.T) {
	dir := t.TempDir()
	c := configOf(dir)
	closeLedger(t, open(t, c))
	text, err := os.ReadFile(c.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		text string
		mode os.FileMode
		want string
	}{
		{string(text), 0o640, "chmod"}, {"", 0o600, "PEM"}, {string(text[:40]), 0o600, "PEM"},
		{"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", 0o600, "Ed25519"},
	} {
		if err := errors.Join(os.WriteFile(c.KeyFile, []byte(one.text), 0o600), os.Chmod(c.KeyFile, one.mode)); err != nil {
			t.Fatal(err)
		}
		if _, err := ledger.Open(c); err == nil || !strings.Contains(err.Error(), one.want) {
			t.Errorf("%q: %v", one.text, err)
		}
	}
	if err := os.Remove(c.KeyFile); err != nil { // a lost key is replaced, and both are reported
		t.Fatal(err)
	}
	appendAll(t, open(t, c), 1, 1)
}

// tree reads all files of a folder.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(text)
	}
	return files
}

// plant writes files into a folder, which loses all others.
func plant(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// written makes a ledger of some files and gives them.
func written(t testing.TB) (ledger.Config, map[string]string) {
	t.Helper()
	c := configOf(t.TempDir())
	l := open(t, c)
	appendAll(t, l, 1, 13)
	closeLedger(t, l)
	return c, tree(t, c.Dir)
}

func segmentsOf(files map[string]string) []string {
	names := slices.Sorted(maps.Keys(files))
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, "0") })
}

func TestNoByteCanBeChanged(t *testing.T) {
	c, files := written(t)
	names := segmentsOf(files)
	newest := names[len(names)-1]
	for _, name := range append(names, "heads.jsonl") {
		text := files[name]
		step := 4
		if testing.Short() {
			step = 17
		}
		for at := 0; at < len(text); at += step {
			change := [...]byte{1, 0x20, '\n' ^ text[at]}[at/step%3]
			if change == 0 {
				change = 0x80
			}
			changed := []byte(text)
			changed[at] ^= change
			if err := os.WriteFile(filepath.Join(c.Dir, name), changed, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := ledger.Verify(t.Context(), c.Dir, ledger.Expect{})
			var damage *ledger.DamageError
			isLastHead := name == "heads.jsonl" && at == len(text)-1 // a head that was never ended is none
			if !isLastHead && (!errors.As(err, &damage) || !strings.HasPrefix(damage.File, c.Dir)) {
				t.Fatalf("%s: byte %d from %q to %q: %v", name, at, text[at], changed[at], err)
			}
			if name != newest || at%5 != 0 {
				continue
			}
			if l, err := ledger.Open(c); !errors.As(err, &damage) {
				t.Fatalf("%s: byte %d from %q to %q: opened, %v", name, at, text[at], changed[at], errors.Join(err, l.Close()))
			}
		}
		if err := os.WriteFile(filepath.Join(c.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	verify(t, c.Dir)
}

func TestNoLineCanBeRemovedMovedOrPutIn(t *testing.T) {
	c, files := written(t)
	names := segmentsOf(files)
	check := func(what string, change func(files map[string]string)) {
		t.Helper()
		changed := maps.Clone(files)
		change(changed)
		plant(t, c.Dir, changed)
		_, err := ledger.Verify(t.Context(), c.Dir, ledger.Expect{})
		var damage *ledger.DamageError
		if !errors.As(err, &damage) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i, name := range names {
		check("without "+name, func(f map[string]string) { delete(f, name) })
		check(name+" empty", func(f map[string]string) { f[name] = "" })
		check(name+" renamed", func(f map[string]string) { f["0000000000000099.jsonl"] = f[name]; delete(f, name) })
		check(name+" cut", func(f map[string]string) { f[name] = f[name][:len(f[name])-9] })
		check(name+" with more", func(f map[string]string) { f[name] += "{}\n" })
		lines := strings.SplitAfter(strings.TrimSuffix(files[name], "\n"), "\n")
		lines[len(lines)-1] += "\n"
		for n := range lines {
			check(fmt.Sprint(name, " without line ", n+1), func(f map[string]string) { f[name] = strings.Join(slices.Delete(slices.Clone(lines), n, n+1), "") })
			check(fmt.Sprint(name, " with line twice ", n+1), func(f map[string]string) { f[name] = strings.Join(slices.Insert(slices.Clone(lines), n, lines[n]), "") })
			if n > 0 {
				check(fmt.Sprint(name, " with lines swapped ", n+1), func(f map[string]string) {
					swapped := slices.Clone(lines)
					swapped[n], swapped[n-1] = swapped[n-1], swapped[n]
					f[name] = strings.Join(swapped, "")
				})
			}
		}
		if i > 0 {
			check("line moved to the file before", func(f map[string]string) {
				f[names[i-1]] += lines[0]
				f[name] = strings.Join(lines[1:], "")
			})
		}
	}
	check("without heads", func(f map[string]string) { delete(f, "heads.jsonl") })
	check("with heads alone", func(f map[string]string) {
		for _, name := range names {
			delete(f, name)
		}
	})
	if _, err := ledger.Open(c); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("opened without entries: %v", err)
	}
	// Whole heads can be cut off unseen, but not by who has one from the log.
	heads := strings.SplitAfter(files["heads.jsonl"], "\n")
	plant(t, c.Dir, files)
	before := verify(t, c.Dir)
	cut := maps.Clone(files)
	cut["heads.jsonl"] = heads[0]
	delete(cut, names[len(names)-1])
	plant(t, c.Dir, cut)
	verify(t, c.Dir)
	if _, err := ledger.Verify(t.Context(), c.Dir, ledger.Expect{Heads: []ledger.Hash{before.Head}}); err == nil {
		t.Error("a ledger without its end has its head")
	}
}

// A server that is killed leaves a line in half, at whichever byte.
func TestALineInHalfIsRemoved(t *testing.T) {
	if testing.Short() {
		t.Skip("it opens the ledger after each of many cuts")
	}
	dir := t.TempDir()
	c := configOf(dir)
	l := open(t, c)
	appendAll(t, l, 1, 3)
	files := tree(t, c.Dir)
	closeLedger(t, l)
	name := segmentsOf(files)[0]
	text := files[name]
	whole := strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n") + 1
	for end := whole; end < len(text); end++ {
		files[name] = text[:end]
		plant(t, c.Dir, files)
		if r := verify(t, c.Dir); r.Entries != 2 || r.Unended != int64(end-whole) {
			t.Fatalf("with %d bytes of a line: %+v", end-whole, r)
		}
		if end%9 != 0 {
			continue
		}
		l := open(t, c)
		appendAll(t, l, 3, 5)
		closeLedger(t, l)
		if got := objects(t, c.Dir); !slices.Equal(got, numbers(1, 5)) {
			t.Fatalf("got %v", got)
		}
		verify(t, c.Dir)
	}
}

// A server that is killed may leave a file without a line.
func TestAnEmptyFileIsTheNewest(t *testing.T) {
	c, files := written(t)
	for _, text := range []string{"", `{"seq":14`} {
		files["0000000000000014.jsonl"] = text
		plant(t, c.Dir, files)
		if r := verify(t, c.Dir); r.Entries != 13 || r.Unended != int64(len(text)) {
			t.Errorf("got %+v", r)
		}
		l := open(t, c)
		if got := l.Opened().Seq; got != 13 {
			t.Errorf("opened at %d", got)
		}
		appendAll(t, l, 14, 16)
		closeLedger(t, l)
		verify(t, c.Dir)
	}
	delete(files, "0000000000000014.jsonl")
	files["0000000000000015.jsonl"] = ""
	plant(t, c.Dir, files)
	if _, err := ledger.Open(c); err == nil {
		t.Error("opened with an entry missing")
	}
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	l := open(t, configOf(t.TempDir()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Append(ctx, entry(1)); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// An entry that cannot be written is older and older, until it is.
func TestTheLagIsTheAgeOfTheOldestEntry(t *testing.T) {
	c := configOf(t.TempDir())
	c.MaxFile = 1 // each entry has a file of its own
	l := open(t, c)
	appendAll(t, l, 1, 1)
	if lag := l.Lag(); lag != 0 {
		t.Errorf("got %v, and all entries are written", lag)
	}
	aside := c.Dir + ".aside"
	if err := os.Rename(c.Dir, aside); err != nil {
		t.Fatal(err)
	}
	l.Note(entry(2))
	before := l.Lag()
	if err := l.Append(t.Context(), entry(3)); !errors.Is(err, ledger.ErrUnavailable) {
		t.Fatal(err)
	}
	if after := l.Lag(); before <= 0 || after <= before {
		t.Errorf("got %v, then %v", before, after)
	}
	if err := os.Rename(aside, c.Dir); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(t.Context(), entry(4)); err != nil {
		t.Fatal(err)
	}
	if lag := l.Lag(); lag != 0 {
		t.Errorf("got %v, and all entries are written", lag)
	}
}

// The clock of the server may be wrong, and is what the entries have.
func TestEntriesHaveTheTimeOfTheServer(t *testing.T) {
	c := configOf(t.TempDir())
	first := time.Date(2026, 11, 24, 1, 2, 3, 4_567_890, time.UTC)
	var back atomic.Int64
	c.Now = func() time.Time { return first.Add(-time.Duration(back.Load())) }
	l := open(t, c)
	appendAll(t, l, 1, 1)
	back.Store(int64(time.Hour))
	appendAll(t, l, 2, 2)
	closeLedger(t, l)
	r := verify(t, c.Dir)
	want := time.Date(2026, 11, 24, 1, 2, 3, 4_000_000, time.UTC)
	if !r.First.Equal(want) || !r.Last.Equal(want.Add(-time.Hour)) {
		t.Errorf("got %v, %v", r.First, r.Last)
	}
	if got := open(t, c).Opened(); !got.Time.Equal(want.Add(-time.Hour)) {
		t.Errorf("got %+v", got)
	}
}

// Reads are written without a caller that waits; those beyond what is held are counted.
func TestReadsAreWritten(t *testing.T) {
	c := configOf(t.TempDir())
	c.MaxFile = 0
	l := open(t, c)
	const all = 25_000
	for n := range all {
		l.NoteRead(ledger.Entry{Action: "resource.read", Object: fmt.Sprint("x:", n)})
		if n%500 == 0 {
			appendAll(t, l, n, n) // no read keeps a change waiting
		}
	}
	closeLedger(t, l)
	verify(t, c.Dir)
	reads, skipped, last := 0, 0, -1
	err := ledger.Read(c.Dir, func(l *ledger.Line) error {
		switch l.Action {
		case "resource.read":
			var n int
			if _, err := fmt.Sscanf(l.Object, "x:%d", &n); err != nil || n <= last {
				t.Fatalf("read %d after %d, %v", n, last, err)
			}
			reads, last = reads+1, n
		case "ledger.skipped":
			var n int
			if _, err := fmt.Sscanf(l.After, "%d reads", &n); err != nil {
				t.Fatal(err)
			}
			skipped += n
		}
		return nil
	})
	if err != nil || reads+skipped != all || reads < 10_000 {
		t.Errorf("%d reads, %d skipped, %v", reads, skipped, err)
	}
}
