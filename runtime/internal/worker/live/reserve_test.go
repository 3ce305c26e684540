package live_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/live"
)

// reserve reserves memory, or fails the test.
func reserve(t *testing.T, g *live.Group, bytes int64, d time.Duration) (release func()) {
	t.Helper()
	release, err := g.Reserve(within(t, d), bytes)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

func stoppedOf(all []*provider) (n int) {
	for _, p := range all {
		n += p.stopped
	}
	return n
}

// The owners of workers do not matter: a reservation is the host's.
func TestAReservationHasUnusedWorkersStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group(t, live.Config{Memory: 100})
		all := providers(t, g, 9)
		for _, p := range all[:5] {
			p.rest()
		}
		began := time.Now()
		release := reserve(t, g, 40, time.Minute)
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
		reserve(t, g, 30, time.Second)()
	})
}

func TestStartsPassAReservationThatFindsNothingToStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group(t, live.Config{Memory: 100})
		all := providers(t, g, 7)
		reserved := make(chan func())
		go func() {
			release, err := g.Reserve(within(t, time.Minute), 50)
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

func TestAReservationIsRefusedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group(t, live.Config{Memory: 100})
		providers(t, g, 9)
		_, err := g.Reserve(within(t, time.Second), 50)
		var e *abi.Error
		const text = "the provider cannot be loaded now: the providers in use need all memory there is for them"
		if !errors.As(err, &e) || e.Code != abi.CodeUnavailable || e.Message != text || e.RetryAfter != time.Second {
			t.Errorf("got %#v, want unavailable: %s, retry after 1s", e, text)
		}
		reserve(t, g, 10, time.Second)()
	})
}

func TestReservationsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group(t, live.Config{Memory: 100})
		release := reserve(t, g, 1<<40, time.Second) // half of the memory
		providers(t, g, 5)
		if err := (&provider{group: g, bytes: 10}).start(within(t, time.Second)); err == nil {
			t.Error("a worker has started in reserved memory")
		}
		release()
		none := group(t, live.Config{Max: 1})
		providers(t, none, 1)
		reserve(t, none, 1<<40, time.Second)() // no memory is bounded
	})
}
