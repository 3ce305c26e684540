package coalesce_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/coalesce"
)

func add(s *coalesce.Set, keys string) {
	for _, key := range strings.Fields(keys) {
		s.Add(key)
	}
}

// taken takes all there is.
func taken(s *coalesce.Set) string {
	var keys []string
	for key, ok := s.Take(); ok; key, ok = s.Take() {
		keys = append(keys, key)
	}
	return strings.Join(keys, " ")
}

func TestAKeyIsTakenOnceAndTheOldestFirst(t *testing.T) {
	s := coalesce.New(func() {})
	for range 2 { // the second time like the first
		add(s, "b a b c a b")
		if got := taken(s); got != "b a c" {
			t.Errorf("took %q, want %q", got, "b a c")
		}
	}
	add(s, "a b")
	s.Take()
	add(s, "a b c")
	if got := taken(s); got != "b a c" {
		t.Errorf("took %q, want %q: what was taken waits again", got, "b a c")
	}
}

func TestRemovedKeysAreNotTaken(t *testing.T) {
	s := coalesce.New(func() {})
	add(s, "a b c")
	s.Remove("b")
	s.Remove("b")
	s.Remove("z")
	add(s, "c b")
	if got := taken(s); got != "a c b" {
		t.Errorf("took %q, want %q", got, "a c b")
	}
}

func TestAConsumerIsWokenUntilItHasFoundNothing(t *testing.T) {
	wakes := 0
	s := coalesce.New(func() { wakes++ })
	wants := func(when string, want int) {
		t.Helper()
		if wakes != want {
			t.Errorf("%s: woken %d times, want %d", when, wakes, want)
		}
	}
	add(s, "a b a")
	wants("two keys", 1)
	s.Take()
	s.Take()
	add(s, "a")
	wants("before it has found nothing", 1)
	taken(s)
	add(s, "a")
	wants("after it has found nothing", 2)
	s.Wake()
	wants("by itself", 3)
	s.Close()
	s.Close()
	add(s, "b")
	if got := taken(s); got != "" || wakes != 3 {
		t.Errorf("after Close took %q, woken %d times, want nothing", got, wakes)
	}
	add(s, "c")
	wants("after Close", 3)
}

func TestATokenWaitsForTheConsumer(t *testing.T) {
	s := coalesce.New(nil)
	add(s, "a b")
	<-s.C
	select {
	case <-s.C:
		t.Error("got a second token")
	default:
	}
	taken(s)
	add(s, "a")
	<-s.C
	s.Wake()
	s.Wake()
	<-s.C
}

// A delivery records what is delivered.
type delivery struct {
	gate chan struct{} // holds up each delivery until it is closed; nil for none

	mu   sync.Mutex // guards the fields below
	fail bool
	got  []string
}

func (d *delivery) deliver(key string) error {
	if d.gate != nil {
		<-d.gate
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail {
		return errors.New("not now")
	}
	d.got = append(d.got, key)
	return nil
}

func (d *delivery) setFail(fail bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = fail
}

// wants fails the test unless these were delivered since the last time, once all is quiet.
func (d *delivery) wants(t *testing.T, when string, want ...string) {
	t.Helper()
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.got, want) {
		t.Errorf("%s: delivered %q, want %q", when, d.got, want)
	}
	d.got = nil
}

func TestDrainMergesWhatComesMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := coalesce.New(nil), &delivery{gate: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		go s.Drain(ctx, time.Second, d.deliver)
		add(s, "a")
		for range 1000 {
			synctest.Wait()
			add(s, "b a")
		}
		d.wants(t, "while the first is delivered")
		close(d.gate)
		d.wants(t, "then", "a")
		time.Sleep(time.Second)
		d.wants(t, "after the pause", "b", "a")
		cancel()
		synctest.Wait()
		add(s, "c")
		d.wants(t, "after the end")
	})
}

func TestDrainTriesAgainWithTheNextKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := coalesce.New(nil), &delivery{fail: true}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go s.Drain(ctx, time.Second, d.deliver)
		add(s, "a b")
		time.Sleep(time.Minute)
		d.setFail(false)
		time.Sleep(time.Minute)
		d.wants(t, "without another")
		add(s, "a")
		d.wants(t, "with the same", "a", "b")
	})
}

func TestDrainStopsBetweenTwoKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := coalesce.New(nil), &delivery{gate: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		go s.Drain(ctx, 0, d.deliver)
		add(s, "a b c")
		synctest.Wait()
		cancel()
		close(d.gate)
		d.wants(t, "in all", "a")
	})
}

// A ledger counts changes under each key, and what the consumer has seen of them.
type ledger struct {
	t             *testing.T
	changes, seen [5]atomic.Int64 // keys 0 to 4
	looking       atomic.Bool
}

func (l *ledger) change(s *coalesce.Set, n int) {
	n %= len(l.changes)
	l.changes[n].Add(1)
	s.Add(strconv.Itoa(n))
}

func (l *ledger) look(key string) error {
	if !l.looking.CompareAndSwap(false, true) {
		l.t.Error("two keys are looked at at once")
	}
	n, err := strconv.Atoi(key)
	if err != nil {
		return err
	}
	l.seen[n].Store(l.changes[n].Load())
	l.looking.Store(false)
	return nil
}

func (l *ledger) lookAtAll(s *coalesce.Set) {
	for key, ok := s.Take(); ok; key, ok = s.Take() {
		if err := l.look(key); err != nil {
			l.t.Error(err)
		}
	}
}

func TestNoChangeIsLost(t *testing.T) {
	for name, start := range map[string]func(ctx context.Context, l *ledger) *coalesce.Set{
		"a goroutine for each wake": func(_ context.Context, l *ledger) (s *coalesce.Set) {
			s = coalesce.New(func() { go l.lookAtAll(s) })
			return s
		},
		"tokens": func(ctx context.Context, l *ledger) *coalesce.Set {
			s := coalesce.New(nil)
			go func() {
				for ctx.Err() == nil {
					select {
					case <-s.C:
						l.lookAtAll(s)
					case <-ctx.Done():
					}
				}
			}()
			return s
		},
		"Drain": func(ctx context.Context, l *ledger) *coalesce.Set {
			s := coalesce.New(nil)
			go s.Drain(ctx, time.Nanosecond, l.look)
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				l := &ledger{t: t}
				s := start(ctx, l)
				var changing sync.WaitGroup
				for range 4 {
					changing.Go(func() {
						for n := range 20_000 {
							l.change(s, n)
						}
					})
				}
				changing.Wait()
				time.Sleep(time.Second) // the bubble's: all is quiet then
				for n := range l.changes {
					if changes, seen := l.changes[n].Load(), l.seen[n].Load(); changes != seen {
						t.Errorf("key %d: %d changes, %d seen", n, changes, seen)
					}
				}
			})
		})
	}
}
