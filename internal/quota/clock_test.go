package quota_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/internal/quota"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/admission"
	"github.com/wasmres/wasmres/runtime/limits"
)

const perDay = time.Minute // of each tenant

// A steppedBook is a Book whose clock is set. It begins at ten o'clock on a day on which each tenant has used up its budget before.
type steppedBook struct {
	*testing.T
	*quota.Book
	path  string
	ahead atomic.Int64 // nanoseconds, of the clock, which the goroutine of the Book reads
}

var bounded = &tenant.Plan{CPUPerDay: perDay}

// withClock calls f in a bubble, with a Book that starts with a clock that is so far ahead.
func withClock(t *testing.T, ahead time.Duration, f func(b *steppedBook)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "usage.json")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(10 * time.Hour)
		b := &steppedBook{T: t, path: path}
		b.restart()
		for _, id := range []string{"known", "asked", "later"} {
			b.Book.Tenant(id, bounded).Used(limits.Usage{CPU: perDay})
		}
		b.ahead.Store(int64(ahead))
		b.restart()
		defer func() { b.Book.Close() }()
		b.Book.Tenant("known", bounded)
		f(b)
	})
}

func (b *steppedBook) restart() {
	b.Helper()
	if b.Book != nil {
		if err := b.Book.Close(); err != nil {
			b.Fatal(err)
		}
	}
	var err error
	b.Book, err = quota.OpenBook(quota.Config{File: b.path, Now: func() time.Time { return time.Now().Add(b.clockAhead()) }})
	if err != nil {
		b.Fatal(err)
	}
}

func (b *steppedBook) clockAhead() time.Duration { return time.Duration(b.ahead.Load()) }

// set sets the clock; the Book has looked at it some seconds later.
func (b *steppedBook) set(ahead time.Duration) {
	b.ahead.Store(int64(ahead))
	time.Sleep(11 * time.Second)
	synctest.Wait()
}

// want checks whether tenants have a budget, and returns when the last of them has one again at the latest.
func (b *steppedBook) want(isLeft bool, ids ...string) (after time.Duration) {
	b.Helper()
	for _, id := range ids {
		refused, ok := b.Book.Tenant(id, bounded).Account("=x", admission.Principal).Enter(1)
		if ok {
			b.Book.Tenant(id, bounded).Account("=x", admission.Principal).Leave()
		}
		if ok != isLeft {
			b.Errorf("%s, with a clock that is %v ahead: enters: %t, want %t: %+v", id, b.clockAhead(), ok, isLeft, refused)
		}
		after = max(after, refused.RetryAfter)
	}
	return after
}

// However the clock is set while a server runs, there is one budget until the day ends: for tenants whose requests came before that,
// while it was wrong, and later.
func TestAClockThatIsSetGivesNoSecondBudget(t *testing.T) {
	const day = 24 * time.Hour
	for name, ahead := range map[string]time.Duration{"a day": day, "ten years": 3653 * day, "back a day": -day, "back a year": -365 * day} {
		t.Run(name, func(t *testing.T) {
			withClock(t, 0, func(b *steppedBook) {
				for range 3 {
					b.set(ahead)
					b.want(false, "known", "asked")
					b.set(0)
					after := b.want(false, "known", "asked", "later")
					if after > 14*time.Hour {
						b.Errorf("they have a budget after %v, want at midnight", after)
					}
				}
				b.restart()
				b.want(false, "known", "asked", "later", "later")
				time.Sleep(14 * time.Hour)
				b.want(true, "known", "asked", "later", "fresh")
			})
		})
	}
}

// A server that started with a wrong clock has the budgets of the right day once the clock is right.
func TestAClockThatIsCorrected(t *testing.T) {
	const day = 24 * time.Hour
	for name, ahead := range map[string]time.Duration{"a day": day, "ten years": 3653 * day, "back a day": -day, "back to 1970": -30 * 365 * day} {
		t.Run(name, func(t *testing.T) {
			withClock(t, ahead, func(b *steppedBook) {
				b.Book.Tenant("fresh", bounded).Used(limits.Usage{CPU: perDay})
				b.set(0)
				after := b.want(false, "known", "asked", "fresh")
				if after > 14*time.Hour {
					b.Errorf("they have a budget after %v, want at midnight", after)
				}
				b.restart()
				b.want(false, "known", "asked", "later", "fresh")
				time.Sleep(14 * time.Hour)
				b.want(true, "known", "asked", "later", "fresh")
			})
		})
	}
}

// A clock that is set within a day moves midnight, but never by more than a day.
func TestAClockThatIsSetMovesMidnight(t *testing.T) {
	withClock(t, 0, func(b *steppedBook) {
		b.set(13 * time.Hour)
		if after := b.want(false, "known"); after > time.Hour {
			b.Errorf("there is a budget after %v, want an hour", after)
		}
		for range 10 { // the clock is set back again and again
			b.set(b.clockAhead() - 10*time.Hour)
			time.Sleep(3 * time.Hour)
		}
		b.want(true, "known", "asked", "later")
	})
}
