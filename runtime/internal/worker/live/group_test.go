package live_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/live"
)

// A provider is a member whose worker ends some time after it was stopped.
type provider struct {
	group *live.Group
	bytes int64
	takes time.Duration // the end
	owner any

	mu      sync.Mutex
	place   *live.Place // nil when no worker runs
	unused  time.Time   // since when; zero while it is in use
	stopped int
}

func (p *provider) Unused() (time.Duration, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Since(p.unused), p.place != nil && !p.unused.IsZero()
}

func (p *provider) Stop() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.place == nil || p.unused.IsZero() { // another caller may have stopped it just now
		return false
	}
	place := p.place
	p.place = nil
	p.stopped++
	time.AfterFunc(p.takes, func() { place.Leave(live.Idle) })
	return true
}

func (p *provider) Memory() int64 { return p.bytes }

// start starts a worker that is in use.
func (p *provider) start(ctx context.Context) error {
	place, err := p.group.Enter(ctx, p, p.owner)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.place, p.unused = place, time.Time{}
	p.mu.Unlock()
	place.Started(time.Second, true)
	return nil
}

// rest ends the use.
func (p *provider) rest() {
	p.mu.Lock()
	p.unused = time.Now()
	p.mu.Unlock()
	p.group.Released()
}

func group(t *testing.T, cfg live.Config) *live.Group {
	t.Helper()
	g, err := live.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// providers are members of a group that have a worker in use.
func providers(t *testing.T, g *live.Group, n int) (all []*provider) {
	t.Helper()
	for range n {
		p := &provider{group: g, bytes: 10, takes: time.Second}
		if err := p.start(t.Context()); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// within is a context with a time limit.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestTheLongestUnusedMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ends := make(chan live.End, 4)
		g := group(t, live.Config{Max: 3, OnEnd: func(why live.End) { ends <- why }})
		all := providers(t, g, 3)
		for _, i := range []int{1, 2} {
			all[i].rest()
			time.Sleep(time.Second)
		}
		began := time.Now()
		providers(t, g, 1)
		if all[0].stopped != 0 || all[1].stopped != 1 || all[2].stopped != 0 || time.Since(began) != time.Second {
			t.Errorf("stopped %d, %d, %d after %v, want the second alone, after its end of 1s",
				all[0].stopped, all[1].stopped, all[2].stopped, time.Since(began))
		}
		want := live.Stats{Live: 3, Starts: 4, Evictions: 1, Ends: 1, StartTime: 4 * time.Second, Memory: 30, LiveTime: 9 * time.Second, MemoryTime: 90, LastStart: time.Now()}
		if got := g.Stats(); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if why := <-ends; why != live.Evicted || len(ends) > 0 {
			t.Errorf("got %s and %d more, want evicted alone", why, len(ends))
		}
	})
}

func TestStopEndsWhatIsUnused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group(t, live.Config{})
		all := providers(t, g, 3)
		all[0].rest()
		all[2].rest()
		if got := g.Stop(); got != 2 || all[1].stopped != 0 {
			t.Errorf("%d were stopped, of them %d in use", got, all[1].stopped)
		}
		time.Sleep(time.Minute) // until they have ended
		if got, more := g.Stats().Live, g.Stop(); got != 1 || more != 0 {
			t.Errorf("%d are left, %d were stopped again", got, more)
		}
	})
}

func TestAStartWaitsUntilOneIsUnused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group(t, live.Config{Max: 1})
		all := providers(t, g, 1)
		time.AfterFunc(time.Minute, all[0].rest)
		began := time.Now()
		providers(t, g, 1)
		if got := time.Since(began); got != time.Minute+time.Second {
			t.Errorf("waited %v, want 1m1s", got)
		}
	})
}

func TestAStartIsRefusedByTheBoundItWaitsFor(t *testing.T) {
	for name, tt := range map[string]struct {
		cfg   live.Config
		text  string
		after time.Duration
	}{
		"number": {live.Config{Max: 1}, "the provider cannot be started now: too many providers are in use", time.Second},
		"memory": {live.Config{Memory: 15}, "the provider cannot be started now: the providers in use need all memory there is for them", time.Second},
		"rate":   {live.Config{StartsPerMinute: 1}, "the provider cannot be started now: too many providers were started lately", 59 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := group(t, tt.cfg)
				providers(t, g, 1)
				p := &provider{group: g, bytes: 10}
				var e *abi.Error
				err := p.start(within(t, time.Second))
				if !errors.As(err, &e) || e.Code != abi.CodeUnavailable || e.Message != tt.text || e.RetryAfter != tt.after {
					t.Errorf("got %#v, want unavailable: %s, retry after %v", e, tt.text, tt.after)
				}
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v, want the end of the context as its cause", err)
				}
				if at := g.Stats(); at.Waiting != 0 || g.Refusal(p) != nil {
					t.Errorf("got %+v, want none waiting", at)
				}
			})
		})
	}
}

func TestStartsHaveTheirTurnInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group(t, live.Config{Max: 2})
		all := providers(t, g, 2)
		order := make(chan int, 5)
		var starts sync.WaitGroup
		for i := range 5 {
			starts.Go(func() {
				p := &provider{group: g}
				if i == 2 {
					if err := p.start(within(t, time.Second)); err == nil {
						t.Error("started, want a refusal")
					}
					return
				}
				if err := p.start(t.Context()); err != nil {
					t.Error(err)
				}
				order <- i
				time.Sleep(time.Minute)
				p.rest()
			})
			synctest.Wait()
		}
		if got := g.Stats(); got.Waiting != 5 {
			t.Errorf("got %+v, want 5 waiting", got)
		}
		time.Sleep(time.Minute)
		all[0].rest()
		starts.Wait()
		for i, want := range []int{0, 1, 3, 4} {
			if got := <-order; got != want {
				t.Errorf("turn %d: got start %d, want %d", i, got, want)
			}
		}
	})
}

func TestTheRateIsKeptInTheLongRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group(t, live.Config{StartsPerMinute: 10})
		began := time.Now()
		providers(t, g, 10)
		if got := time.Since(began); got != 0 {
			t.Errorf("the first ten took %v, want no time", got)
		}
		providers(t, g, 10)
		if got := time.Since(began).Round(time.Second); got != time.Minute {
			t.Errorf("twenty took %v, want a minute", got)
		}
	})
}

func TestSetChangesTheBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group(t, live.Config{Max: 1})
		providers(t, g, 1)
		time.AfterFunc(time.Second, func() {
			if err := g.Set(live.Config{Max: 2}); err != nil {
				t.Error(err)
			}
		})
		began := time.Now()
		providers(t, g, 1)
		if got := time.Since(began); got != time.Second {
			t.Errorf("waited %v, want 1s", got)
		}
		if err := g.Set(live.Config{Max: -1}); err == nil {
			t.Error("got no error for a negative bound")
		}
		if err := g.Set(live.Config{Max: 1}); err != nil {
			t.Error(err)
		}
		if err := (&provider{group: g}).start(within(t, time.Second)); abi.CodeOf(err) != abi.CodeUnavailable {
			t.Errorf("got %v, want a refusal", err)
		}
	})
}

// TestTheFirstIsNeverTooLarge has a member that needs more than there is for all: it runs alone.
func TestTheFirstIsNeverTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group(t, live.Config{Memory: 5})
		all := providers(t, g, 1)
		all[0].rest()
		providers(t, g, 1)
		if got := g.Stats(); got.Live != 1 || got.Evictions != 1 {
			t.Errorf("got %+v, want one alive and one evicted", got)
		}
	})
}

// An owner that has more than its share has its own workers stopped for its next one. Those of others are stopped for it only after
// a long rest.
func TestOwnersKeepTheirShares(t *testing.T) {
	for name, cfg := range map[string]live.Config{"number": {Max: 4}, "memory": {Memory: 40}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := group(t, cfg)
				start := func(owner string) *provider {
					t.Helper()
					p := &provider{group: g, bytes: 10, takes: time.Millisecond, owner: owner}
					if err := p.start(within(t, 10*time.Second)); err != nil {
						t.Fatal(err)
					}
					return p
				}
				quiet := start("b")
				quiet.rest()
				var greedy []*provider
				for range 20 { // one after the other, as quickly as it can
					time.Sleep(time.Millisecond)
					p := start("a")
					p.rest()
					greedy = append(greedy, p)
				}
				if quiet.stopped != 0 || greedy[0].stopped != 1 {
					t.Fatalf("the other owner's worker was stopped %d times", quiet.stopped)
				}
				for i := range 2 { // which now has all but its own in use
					p := greedy[len(greedy)-1-i]
					p.mu.Lock()
					p.unused = time.Time{}
					p.mu.Unlock()
				}
				last := start("a") // stops the third
				var refused *abi.Error
				if err := (&provider{group: g, bytes: 10, owner: "a"}).start(within(t, time.Second)); !errors.As(err, &refused) || quiet.stopped != 0 {
					t.Errorf("with all of its own in use: got %v, and the other's was stopped %d times", err, quiet.stopped)
				}
				waits := make(chan error, 1)
				go func() { waits <- (&provider{group: g, bytes: 10, owner: "a"}).start(within(t, time.Minute)) }()
				synctest.Wait()
				start("c") // does not wait behind it, and has its share of what rests
				if quiet.stopped != 1 {
					t.Errorf("the third owner has started, and the worker that rests was stopped %d times", quiet.stopped)
				}
				last.rest()
				if err := <-waits; err != nil || last.stopped != 1 {
					t.Errorf("the start that waited: %v, in place of its own %d", err, last.stopped)
				}
			})
		})
	}
}

// After a long rest, a worker makes room for any other.
func TestALongRestEndsForAnyOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group(t, live.Config{Max: 2})
		start := func(owner string) *provider {
			t.Helper()
			p := &provider{group: g, bytes: 10, takes: time.Millisecond, owner: owner}
			if err := p.start(within(t, time.Minute)); err != nil {
				t.Fatal(err)
			}
			return p
		}
		quiet := start("b")
		quiet.rest()
		start("a")
		began := time.Now()
		start("a")
		if took := time.Since(began); quiet.stopped != 1 || took < 29*time.Second || took > 31*time.Second {
			t.Errorf("stopped %d times after %v, want once after 30s", quiet.stopped, took)
		}
	})
}

// TestManyAtOnce is for the race detector.
func TestManyAtOnce(t *testing.T) {
	g := group(t, live.Config{Max: 3, Memory: 1000})
	var all sync.WaitGroup
	for range 8 {
		p := &provider{group: g, bytes: 1}
		all.Go(func() {
			for range 200 {
				if err := p.start(t.Context()); err != nil {
					t.Error(err)
					return
				}
				if at := g.Stats(); at.Live+at.Starting > 3 {
					t.Errorf("got %+v, want 3 at most", at)
				}
				p.rest()
				p.Stop()
			}
		})
	}
	all.Wait()
}

// The memory of workers counts as long as they live, looked at or not: that of one that has ended meanwhile with its peak.
func TestTheMemoryOfWorkersCountsOverTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		within := group(t, live.Config{})
		g := group(t, live.Config{Within: within})
		p := providers(t, g, 2) // of ten bytes
		time.Sleep(10 * time.Second)
		if s := g.Stats(); s.LiveTime != 20*time.Second || s.MemoryTime != 200 || g.TakePeak() != 10 {
			t.Errorf("after ten seconds: %+v", s)
		}
		p[0].bytes = 30
		time.Sleep(time.Second)
		if s := g.Stats(); s.MemoryTime != 240 || g.TakePeak() != 30 {
			t.Errorf("a second later: %+v", s)
		}
		time.Sleep(2 * time.Second)
		p[1].place.Peak(100)
		p[1].place.Leave(live.Crashed)
		p[1].place.Leave(live.Crashed) // counts once
		if s := g.Stats(); s.LiveTime != 26*time.Second || s.MemoryTime != 240+2*30+2*100 || g.TakePeak() != 100 {
			t.Errorf("after the end of one: %+v", s)
		}
		short, err := g.Enter(t.Context(), p[1], nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // a start takes no memory of the provider's
		short.Started(time.Minute, true)
		time.Sleep(50 * time.Millisecond)
		short.Peak(4000)
		short.Leave(live.Idle)
		if s := g.Stats(); s.MemoryTime != 500+60*30+200+1 || g.TakePeak() != 4000 {
			t.Errorf("after a short life: %+v", s)
		}
		if g.TakePeak() != 30 {
			t.Error("a peak is told twice")
		}
	})
}
