package live_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/live"
)

// reserve reserves memory for an owner, or fails the test.
func reserve(t *testing.T, g *live.Group, owner any, bytes int64) (release func()) {
	t.Helper()
	release, err := g.Reserve(within(t, time.Minute), live.Reservation{Owner: owner, Bytes: bytes})
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// startOf starts a worker of an owner, which is unused from then on.
func startOf(t *testing.T, g *live.Group, owner string) *provider {
	t.Helper()
	p := &provider{group: g, bytes: 10, takes: time.Millisecond, owner: owner}
	if err := p.start(within(t, time.Second)); err != nil {
		t.Fatal(err)
	}
	p.rest()
	time.Sleep(time.Millisecond) // so that one is unused for longer than the next
	return p
}

func stoppedOf(all []*provider) (n int) {
	for _, p := range all {
		n += p.stopped
	}
	return n
}

func TestAReservationHasUnusedWorkersStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group(t, live.Config{Memory: 100})
		all := providers(t, g, 9)
		for _, p := range all[:5] {
			p.rest()
		}
		began := time.Now()
		release := reserve(t, g, nil, 40)
		if n := stoppedOf(all); n != 3 || time.Since(began) != 3*time.Second {
			t.Errorf("stopped %d workers in %v, want 3, whose ends take a second each", n, time.Since(began))
		}
		if at := g.Stats(); at.Live != 6 || at.Starting != 0 || at.Memory != 60 {
			t.Errorf("got %+v, want six workers alone", at)
		}
		late := &provider{group: g, bytes: 10, takes: time.Second}
		time.AfterFunc(time.Second, release)
		for _, p := range all {
			p.mu.Lock()
			p.unused = time.Time{}
			p.mu.Unlock()
		}
		began = time.Now()
		if err := late.start(within(t, time.Minute)); err != nil || time.Since(began) != time.Second {
			t.Errorf("a start took %v, %v, want a second, until the memory is released", time.Since(began), err)
		}
		release()
		reserve(t, g, nil, 30)()
	})
}

func TestStartsPassAReservationThatFindsNothingToStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group(t, live.Config{Memory: 100})
		all := providers(t, g, 7)
		reserved := make(chan func())
		go func() {
			release, err := g.Reserve(within(t, time.Minute), live.Reservation{Bytes: 50})
			if err != nil {
				t.Error(err)
			}
			reserved <- release
		}()
		synctest.Wait()
		began := time.Now()
		all = append(all, providers(t, g, 1)...)
		if took := time.Since(began); took != 0 {
			t.Errorf("a start for which there is memory took %v", took)
		}
		for _, p := range all {
			p.rest()
		}
		(<-reserved)()
		if n := stoppedOf(all); n != 3 {
			t.Errorf("stopped %d, want 3", n)
		}
	})
}

// A start that lacks something else than memory keeps no reservation from its memory.
func TestReservationsPassAStartWithoutAToken(t *testing.T) {
	for name, cfg := range map[string]live.Config{
		"token": {Memory: 100, StartsPerMinute: 1}, "place": {Memory: 100, Max: 1}, "files": {Memory: 100, Files: newLender(1)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := group(t, cfg)
				first := providers(t, g, 1)[0]
				waits := make(chan error)
				for range 2 {
					go func() { waits <- (&provider{group: g, bytes: 10, owner: "a"}).start(within(t, 10*time.Second)) }()
				}
				synctest.Wait()
				began := time.Now()
				for range 3 {
					reserve(t, g, "b", 30)()
				}
				if took := time.Since(began); took != 0 {
					t.Errorf("reservations took %v", took)
				}
				if at := g.Stats(); at.Waiting != 2 || first.stopped != 0 {
					t.Errorf("got %+v, want two that wait", at)
				}
				for range 2 {
					if err := <-waits; abi.CodeOf(err) != abi.CodeUnavailable {
						t.Errorf("got %v, want a refusal", err)
					}
				}
			})
		})
	}
}

func TestAReservationIsRefusedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group(t, live.Config{Memory: 100})
		providers(t, g, 9)
		_, err := g.Reserve(within(t, time.Second), live.Reservation{Bytes: 50})
		var e *abi.Error
		const text = "the provider cannot be loaded now: the providers in use need all memory there is for them"
		if !errors.As(err, &e) || e.Code != abi.CodeUnavailable || e.Message != text || e.RetryAfter != time.Second {
			t.Errorf("got %#v, want unavailable: %s, retry after 1s", e, text)
		}
		reserve(t, g, nil, 10)()
	})
}

func TestReservationsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group(t, live.Config{Memory: 100})
		release := reserve(t, g, nil, 1<<40) // half of the memory
		providers(t, g, 5)
		if err := (&provider{group: g, bytes: 10}).start(within(t, time.Second)); err == nil {
			t.Error("a worker has started in reserved memory")
		}
		release()
		none := group(t, live.Config{Max: 1})
		providers(t, none, 1)
		reserve(t, none, nil, 1<<40)() // no memory is bounded
	})
}

// An owner that reserves again and again has workers of its own stopped, then those of owners with more than their shares, and no
// others before they have rested long.
func TestReservationsObeyShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group(t, live.Config{Memory: 100})
		var greedy, large, small []*provider
		for range 3 {
			small = append(small, startOf(t, g, "small")) // unused for longest
		}
		for range 6 {
			large = append(large, startOf(t, g, "large"))
		}
		greedy = append(greedy, startOf(t, g, "greedy"))
		for _, c := range []struct {
			bytes                      int64
			seldom                     bool
			ok                         bool
			ofGreedy, ofLarge, ofSmall int
		}{
			{20, false, true, 0, 2, 0}, // within its share
			{30, false, true, 1, 2, 0},
			{40, false, true, 1, 3, 0},
			{50, false, false, 1, 3, 0}, // the others are within their shares
			{50, true, true, 1, 3, 1},
		} {
			release, err := g.Reserve(within(t, time.Second), live.Reservation{Owner: "greedy", Bytes: c.bytes, Seldom: c.seldom})
			if err == nil {
				release()
			}
			if (err == nil) != c.ok || stoppedOf(greedy) != c.ofGreedy || stoppedOf(large) != c.ofLarge || stoppedOf(small) != c.ofSmall {
				t.Errorf("%v, and stopped %d of its own, %d of an owner with more than its share, %d of one within, want %+v",
					err, stoppedOf(greedy), stoppedOf(large), stoppedOf(small), c)
			}
		}
	})
}

// What an owner has reserved counts in its share: its start has no worker of others stopped.
func TestReservedMemoryIsOfItsOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group(t, live.Config{Memory: 100})
		defer reserve(t, g, "greedy", 50)()
		other := []*provider{startOf(t, g, "other"), startOf(t, g, "other"), startOf(t, g, "other"), startOf(t, g, "other"), startOf(t, g, "other")}
		if err := (&provider{group: g, bytes: 10, owner: "greedy"}).start(within(t, time.Second)); err == nil || stoppedOf(other) > 0 {
			t.Errorf("the start: %v, for which %d workers were stopped", err, stoppedOf(other))
		}
	})
}

// Reservations leave memory to starts, and those of one owner leave some to those of others.
func TestAllReservationsTogetherAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group(t, live.Config{Memory: 100})
		release := reserve(t, g, "a", 1<<40) // half of the memory
		again := make(chan error)
		go func() {
			_, err := g.Reserve(within(t, 10*time.Second), live.Reservation{Owner: "a", Bytes: 10})
			again <- err
		}()
		synctest.Wait()
		defer reserve(t, g, "b", 20)() // passes it
		_, err := g.Reserve(within(t, time.Second), live.Reservation{Owner: "c", Bytes: 10})
		const text = "the provider cannot be loaded now: those that are being loaded need all memory there is for that"
		if e := (*abi.Error)(nil); !errors.As(err, &e) || e.Code != abi.CodeUnavailable || e.Message != text || e.RetryAfter != time.Second {
			t.Errorf("got %#v, want unavailable: %s, retry after 1s", err, text)
		}
		startOf(t, g, "c")
		startOf(t, g, "c")
		release()
		if err := <-again; err != nil {
			t.Error(err)
		}
	})
}

// Starts that wait because their owner has more than its share do not keep others from reserving, who have more by that.
func TestAReservationPassesStartsBeyondAShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group(t, live.Config{Max: 4, Memory: 100})
		for range 3 {
			if err := (&provider{group: g, bytes: 10, owner: "greedy"}).start(within(t, time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		idle := startOf(t, g, "other")
		waits := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { waits <- (&provider{group: g, bytes: 10, owner: "greedy"}).start(ctx) }()
		synctest.Wait()
		reserve(t, g, "third", 50)()
		if cancel(); <-waits == nil || idle.stopped > 0 {
			t.Errorf("the worker of another owner was stopped %d times", idle.stopped)
		}
	})
}
