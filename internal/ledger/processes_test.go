package ledger_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/childtest"
	"github.com/wasmres/wasmres/internal/hosttest"
	"github.com/wasmres/wasmres/internal/ledger"
)

var kills = flag.Int("kills", hosttest.Size(40, 200), "how often a process that writes is killed")

// roles has what children do with the ledger of a folder. They print their results for the parent.
var roles = map[string]func(ctx context.Context, l *ledger.Ledger) error{"count": count, "overflow": overflow}

func TestMain(m *testing.M) {
	role, ok := roles[childtest.Role()]
	if !ok {
		os.Exit(m.Run())
	}
	c := configOf(os.Args[1])
	c.MaxFile = 20_000
	if childtest.Role() == "overflow" {
		c.MaxFile = 0
	}
	l, err := ledger.Open(c)
	if err == nil {
		err = errors.Join(role(context.Background(), l), l.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// count appends numbers until it is killed, four at a time, and prints each that was acknowledged.
func count(ctx context.Context, l *ledger.Ledger) error {
	for from := int(l.Opened().Seq) + 1; ; from += 4 {
		group := []ledger.Entry{entry(from), entry(from + 1), entry(from + 2), entry(from + 3)}
		if err := l.Append(ctx, group...); err != nil {
			return err
		}
		fmt.Println(from + 3)
	}
}

// A process is killed while it appends, again and again: every entry that it has acknowledged is there.
func TestNothingAcknowledgedIsLostWhenAProcessIsKilled(t *testing.T) {
	dir := t.TempDir()
	c := configOf(dir)
	times := *kills
	if testing.Short() {
		times = min(times, 5)
	}
	acknowledged := 0
	for range times {
		process, output, end := childtest.Start(t, "count", dir)
		left := rand.IntN(12)
		lines := bufio.NewScanner(output)
		for lines.Scan() {
			var n int
			if _, err := fmt.Sscan(lines.Text(), &n); err != nil || n <= acknowledged {
				t.Fatalf("the child printed %q after %d", lines.Text(), acknowledged)
			}
			acknowledged = n
			if left--; left < 0 {
				_ = process.Kill() // its output until then is read to the end
			}
		}
		end()
		r := verify(t, c.Dir)
		if int(r.Entries) < acknowledged || int(r.Entries) > acknowledged+4 {
			t.Fatalf("entry %d was acknowledged, %d are there", acknowledged, r.Entries)
		}
	}
	if got := objects(t, c.Dir); !slices.Equal(got, numbers(1, len(got))) {
		t.Errorf("got %v", got)
	}
}

// overflow appends until the file cannot grow; then there is room again.
func overflow(ctx context.Context, l *ledger.Ledger) error {
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	limit := syscall.Rlimit{Cur: 10_000, Max: before.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	n := 0
	var err error
	for err == nil && n < 500 {
		n++
		err = l.Append(ctx, entry(n))
	}
	if !errors.Is(err, ledger.ErrUnavailable) || !strings.Contains(err.Error(), "make room") {
		return fmt.Errorf("entry %d on a full disk: %w", n, err)
	}
	if !l.IsBehind() {
		return errors.New("on a full disk it is not behind")
	}
	for range 1100 { // 1000 are held, and the others counted
		l.Note(ledger.Entry{Action: "test.note"})
	}
	for range 3 {
		if err = l.Append(ctx, entry(n)); !errors.Is(err, ledger.ErrUnavailable) {
			return fmt.Errorf("entry %d on a full disk again: %w", n, err)
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	for until := time.Now().Add(20 * time.Second); l.IsBehind(); { // it tries by itself
		if time.Now().After(until) {
			return errors.New("with room again it is behind")
		}
		time.Sleep(time.Millisecond)
	}
	for end := n + 20; n < end; n++ {
		if err := l.Append(ctx, entry(n)); err != nil {
			return fmt.Errorf("with room again: %w", err)
		}
	}
	fmt.Println(n - 1)
	return nil
}

func TestAFullDiskRefusesEntriesAlone(t *testing.T) {
	dir := t.TempDir()
	_, output, end := childtest.Start(t, "overflow", dir)
	var want int
	if _, err := fmt.Fscan(output, &want); err != nil {
		t.Error(err)
	}
	end()
	c := configOf(dir)
	if got := objects(t, c.Dir); !slices.Equal(got, numbers(1, want)) {
		t.Errorf("got %v, want up to %d", got, want)
	}
	notes, resumed, skipped := 0, 0, ""
	err := ledger.Read(c.Dir, func(l *ledger.Line) error {
		switch l.Action {
		case "test.note":
			notes++
		case "ledger.skipped":
			skipped += l.After
		case "ledger.resume":
			resumed++
		}
		return nil
	})
	if err != nil || notes != 1000 || resumed != 1 || !strings.HasPrefix(skipped, "100 entries") {
		t.Errorf("got %d notes, skipped %q, %v", notes, skipped, err)
	}
	verify(t, c.Dir)
	open(t, c)
}
