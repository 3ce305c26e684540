package ledger_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/ledger"
)

// A write is what one Append did to the files of a ledger.
type write struct {
	before, after map[string]string
	entries       int // before, all of them acknowledged
	more          int // that it appended
}

// writes makes a ledger, and returns what each Append did. The clock goes on by a millisecond for each.
func writes(t *testing.T, c ledger.Config) (all []write) {
	t.Helper()
	begin, now := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC), atomic.Int64{}
	c.Now = func() time.Time { return begin.Add(time.Duration(now.Add(1)) * time.Millisecond) }
	l := open(t, c)
	appendAll(t, l, 1, 1)
	for files := tree(t, c.Dir); files["heads.jsonl"] == ""; files = tree(t, c.Dir) { // the first entry is signed after it is acknowledged
		time.Sleep(time.Millisecond)
	}
	n := 1
	for _, more := range []int{1, 1, 5, 2, 12, 1, 30, 3, 1} {
		w := write{before: tree(t, c.Dir), entries: n, more: more}
		var group []ledger.Entry
		for range more {
			n++
			group = append(group, entry(n))
		}
		if err := l.Append(t.Context(), group...); err != nil {
			t.Fatal(err)
		}
		w.after = tree(t, c.Dir)
		all = append(all, w)
	}
	before := tree(t, c.Dir)
	closeLedger(t, l)
	return append(all, write{before, tree(t, c.Dir), n, 0}) // the head at the end
}

// changed returns the one file that a write has changed.
func (w *write) changed(t *testing.T) (name, before, after string) {
	t.Helper()
	for file, text := range w.after {
		if text != w.before[file] {
			if name != "" {
				t.Fatalf("one write has changed %s and %s", name, file)
			}
			name = file
		}
	}
	return name, w.before[name], w.after[name]
}

// torn returns what a power cut may leave of a write that makes a file of another: so many bytes, in which some sectors are old.
func torn(before, after string, length int, isOld func(sector int) bool) string {
	const size = 512
	text := []byte(after[:length])
	for from := len(before) / size * size; from < length; from += size {
		if !isOld(from / size) {
			continue
		}
		for at := max(from, len(before)); at < min(from+size, length); at++ {
			text[at] = 0
		}
	}
	return string(text)
}

// A power cut leaves any part of the last write: any number of its bytes, and any of its sectors as they were. The ledger opens again
// with all that was acknowledged, says how much it has removed, and goes on.
func TestAPowerCut(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads the ledger after each of thousands of cuts")
	}
	c := configOf(t.TempDir())
	c.MaxFile = 6000
	all := writes(t, c)
	random := rand.New(rand.NewPCG(1, 2))
	cuts, opened := 0, 0
	for i := range all {
		w := &all[i]
		name, before, after := w.changed(t)
		try := func(what, text string) {
			t.Helper()
			cuts++
			files := maps.Clone(w.before)
			if files[name] = text; text == "missing" {
				delete(files, name)
			}
			plant(t, c.Dir, files)
			r, err := ledger.Verify(t.Context(), c.Dir, ledger.Expect{})
			if err != nil || int(r.Entries) < w.entries || int(r.Entries) > w.entries+w.more {
				t.Fatalf("write %d of %d bytes after %d, %s: %+v, %v", i, len(after)-len(before), len(before), what, r, err)
			}
			if cuts%10 != 0 && !strings.HasPrefix(what, "sectors") || testing.Short() && cuts%50 != 0 {
				return
			}
			opened++
			l, err := ledger.Open(c)
			if err != nil {
				t.Fatalf("write %d of %d bytes after %d, %s: %v", i, len(after)-len(before), len(before), what, err)
			}
			if got := l.Opened(); got.Seq != r.Entries || got.Torn != r.Unended {
				t.Fatalf("write %d, %s: opened at %+v, where Verify found %+v", i, what, got, r)
			}
			appendAll(t, l, int(r.Entries)+1, int(r.Entries)+2)
			closeLedger(t, l)
			if got := objects(t, c.Dir); !slices.Equal(got, numbers(1, int(r.Entries)+2)) {
				t.Fatalf("write %d, %s: got %v", i, what, got)
			}
			verify(t, c.Dir)
		}
		if _, there := w.before[name]; !there {
			try("without the file", "missing")
		}
		step := max((len(after)-len(before))/40, 1)
		if i == 1 && !testing.Short() {
			step = 1
		}
		for length := len(before); length <= len(after); length += step {
			try(fmt.Sprintf("%d bytes", length), after[:length])
			try(fmt.Sprintf("%d bytes, all zero", length), torn(before, after, length, func(int) bool { return true }))
		}
		for range 8 {
			old := map[int]bool{}
			for n := range len(after)/512 + 1 {
				old[n] = random.IntN(2) == 0
			}
			length := len(before) + random.IntN(len(after)-len(before)+1)
			if random.IntN(2) == 0 {
				length = len(after)
			}
			try(fmt.Sprintf("sectors of %d bytes", length), torn(before, after, length, func(n int) bool { return old[n] }))
		}
	}
	t.Logf("%d cuts, opened %d times", cuts, opened)
}

// What no power cut leaves is damage: a changed byte of the last write, and a lost sector of an entry before it.
func TestWhatNoPowerCutLeaves(t *testing.T) {
	c := configOf(t.TempDir())
	c.MaxFile = 6000
	all := writes(t, c)
	w := &all[6] // of 30 entries, which no head signs
	name, before, after := w.changed(t)
	isDamage := func(what, text string) {
		t.Helper()
		files := maps.Clone(w.after)
		files[name] = text
		plant(t, c.Dir, files)
		var damage *ledger.DamageError
		if r, err := ledger.Verify(t.Context(), c.Dir, ledger.Expect{}); !errors.As(err, &damage) {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
		if l, err := ledger.Open(c); !errors.As(err, &damage) {
			t.Errorf("%s: opened, %v", what, errors.Join(err, l.Close()))
		}
	}
	for at := len(before); at < len(after)-1; at += 401 {
		for _, change := range []byte{after[at] ^ 1, 0, '\n'} {
			if change == after[at] || change == 0 && at%512 == 0 {
				continue
			}
			isDamage(fmt.Sprintf("byte %d from %q to %q", at, after[at], change), after[:at]+string(rune(change))+after[at+1:])
		}
	}
	// Entries of two writes in one file, of which the first is known to have been on disk.
	i := slices.IndexFunc(all, func(one write) bool {
		name, before, _ := one.changed(t)
		return strings.HasPrefix(name, "0") && len(before) > 2000
	})
	if i < 0 {
		t.Fatal("each file has one write")
	}
	w = &all[i]
	name, before, after = w.changed(t)
	last := strings.LastIndexByte(strings.TrimSuffix(before, "\n"), '\n') + 1 // where the last acknowledged entry begins
	for from := 0; from+512 <= len(before); from += 512 {
		text := []byte(after)
		copy(text[from:from+512], make([]byte, 512))
		isDamage(fmt.Sprintf("sector at %d of %d", from, len(before)), string(text))
	}
	zeros := []byte(after)
	copy(zeros[last:], bytes.Repeat([]byte{0}, 100))
	isDamage("a hundred zero bytes in an acknowledged entry", string(zeros))
}
