package throttle_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/internal/throttle"
)

// A book records the lines of a log, each with the seconds that have passed.
type book struct {
	began time.Time
	mu    sync.Mutex
	lines []string
}

var stamp = regexp.MustCompile(`^time=\S+ level=WARN msg=`)

func (b *book) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := stamp.ReplaceAll(bytes.TrimSpace(line), nil)
	b.lines = append(b.lines, fmt.Sprintf("%v %s", time.Since(b.began).Truncate(time.Second), text))
	return len(line), nil
}

func throttled(t *testing.T, test func(l *throttle.Log, b *book)) {
	synctest.Test(t, func(*testing.T) {
		b := &book{began: time.Now()}
		l := throttle.New(slog.New(slog.NewTextHandler(b, nil)))
		defer l.Close()
		test(l, b)
	})
}

// pass advances the time, and waits for what happens meanwhile.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func expect(t *testing.T, b *book, want ...string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Equal(b.lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(b.lines, "\n"), strings.Join(want, "\n"))
	}
}

func TestOneLineOfEachKindInTenSeconds(t *testing.T) {
	throttled(t, func(l *throttle.Log, b *book) {
		for n := range 250 {
			l.Warn("host", "refused", "n", n)
			if n%120 == 0 {
				l.Warn("origin", "kept out", "n", n)
			}
			if n == 0 {
				pass(50 * time.Millisecond) // so that no event coincides with the end of Every
			}
			pass(100 * time.Millisecond)
		}
		pass(time.Minute)
		expect(t, b,
			"0s refused n=0", `0s "kept out" n=0`,
			"10s refused n=99 left_out=98", `12s "kept out" n=120`,
			"20s refused n=199 left_out=99", `24s "kept out" n=240`,
			"30s refused n=249 left_out=49",
		)
	})
}

func TestAnEventAfterAQuietTimeIsLoggedAtOnce(t *testing.T) {
	throttled(t, func(l *throttle.Log, b *book) {
		for range 3 {
			l.Warn("host", "refused")
			pass(11 * time.Second)
		}
		expect(t, b, "0s refused", "11s refused", "22s refused")
	})
}

func TestCloseWritesTheRest(t *testing.T) {
	throttled(t, func(l *throttle.Log, b *book) {
		for n := range 5 {
			l.Warn("host", "refused", "n", n)
		}
		pass(time.Second)
		l.Close()
		l.Close()
		l.Warn("host", "refused", "n", 5)
		pass(time.Minute)
		expect(t, b, "0s refused n=0", "1s refused n=4 left_out=3")
	})
}

func TestAFloodFromManyClients(t *testing.T) {
	throttled(t, func(l *throttle.Log, b *book) {
		var clients sync.WaitGroup
		for range 20 {
			clients.Go(func() {
				for range 1000 {
					l.Warn("host", "refused")
				}
			})
		}
		clients.Wait()
		pass(time.Minute)
		expect(t, b, "0s refused", "10s refused left_out=19998")
	})
}
