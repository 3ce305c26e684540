package fair_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/admission"
	"github.com/wasmres/wasmres/runtime/internal/fair"
)

// TestSharesAreAsTheWeights has owners that always have more calls than there are slots. Each gets processor time by its weight,
// whatever its calls look like.
func TestSharesAreAsTheWeights(t *testing.T) {
	type load struct {
		weight, callers int
		takes           func(n int) time.Duration
		unmetered       bool
	}
	mixed := func(n int) time.Duration { // whatever the mean says, it is wrong
		if n%10 == 0 {
			return 50 * ms
		}
		return 100 * time.Microsecond
	}
	growing := func(n int) time.Duration { return time.Duration(1+n%40) * ms }
	for name, loads := range map[string][]load{
		"the same calls":                {{1, 8, always(ms), false}, {3, 8, always(ms), false}},
		"long and short calls":          {{1, 8, always(200 * ms), false}, {3, 8, always(ms), false}},
		"short and long calls":          {{1, 8, always(ms), false}, {3, 8, always(200 * ms), false}},
		"long calls":                    {{1, 8, always(time.Second), false}, {3, 8, always(time.Second), false}},
		"estimates that are far off":    {{1, 8, mixed, false}, {3, 8, growing, false}},
		"many callers against few":      {{1, 60, always(5 * ms), false}, {3, 4, always(5 * ms), false}},
		"calls that say what they used": {{1, 8, always(2 * ms), true}, {3, 8, always(7 * ms), true}},
		"five owners": {
			{1, 8, always(ms), false}, {1, 8, mixed, false}, {2, 8, growing, false}, {5, 8, always(20 * ms), false}, {1, 8, always(3 * ms), true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(t, fair.Config{Slots: 2})
				const lasts = 6 * time.Second
				ctx, cancel := context.WithCancel(t.Context())
				var owners []*owner
				var waits []func()
				weights := 0
				for _, l := range loads {
					o := newOwner(q, l.weight)
					if !l.unmetered {
						o.metered()
					}
					owners, weights = append(owners, o), weights+l.weight
					waits = append(waits, o.flood(ctx, l.callers, l.takes))
				}
				time.Sleep(lasts)
				var all time.Duration
				used := make([]time.Duration, len(owners))
				for i, o := range owners {
					used[i] = o.total()
					all += used[i]
				}
				cancel()
				for _, wait := range waits {
					wait()
				}
				if all < 2*lasts*95/100 {
					t.Errorf("two processors have worked for %v in %v", all, lasts)
				}
				for i, l := range loads {
					want := float64(l.weight) / float64(weights)
					if got := float64(used[i]) / float64(all); math.Abs(got/want-1) > 0.1 {
						t.Errorf("owner %d of weight %d got %.1f %%, want %.1f %% within a tenth", i, l.weight, 100*got, 100*want)
					}
				}
				if s := q.Stats(); s.Running != 0 || s.Waiting != 0 {
					t.Errorf("at the end: %+v", s)
				}
			})
		})
	}
}

// TestALightOwnerHardlyWaits has an owner flood the queue with calls of a second. Calls of another one wait for a fraction of a
// slice, since a call of the first is paused for them.
func TestALightOwnerHardlyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, fair.Config{Slots: 2})
		ctx, cancel := context.WithCancel(t.Context())
		heavy, light := newOwner(q, 1).metered(), newOwner(q, 1).metered()
		wait := heavy.flood(ctx, 32, always(time.Second))
		time.Sleep(time.Second)
		var slowest time.Duration
		for range 200 {
			began := time.Now()
			if err := light.call(ctx, 500*time.Microsecond, time.Second); err != nil {
				t.Fatal(err)
			}
			slowest = max(slowest, time.Since(began))
			time.Sleep(10 * ms)
		}
		cancel()
		wait()
		if slowest > 2500*time.Microsecond { // a quarter of a slice, as long until that is noticed, and itself
			t.Errorf("the slowest of 200 calls of 0.5 ms took %v", slowest)
		}
	})
}

// TestAnIdleOwnerGainsNoCredit has one owner alone for long. When a second one comes, both get the same from then on.
func TestAnIdleOwnerGainsNoCredit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, fair.Config{Slots: 2})
		ctx, cancel := context.WithCancel(t.Context())
		busy, idle := newOwner(q, 1).metered(), newOwner(q, 1).metered()
		waitBusy := busy.flood(ctx, 8, always(3*ms))
		time.Sleep(5 * time.Second)
		before := busy.total()
		waitIdle := idle.flood(ctx, 8, always(3*ms))
		time.Sleep(2 * time.Second)
		a, b := busy.total()-before, idle.total()
		cancel()
		waitBusy()
		waitIdle()
		if ratio := float64(a) / float64(b); ratio < 0.9 || ratio > 1.1 {
			t.Errorf("the owner that was busy got %v, the one that was idle %v, want the same", a, b)
		}
	})
}

// TestNoOwnerStarves has a hundred owners with one call each beside two that flood.
func TestNoOwnerStarves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, fair.Config{Slots: 2})
		ctx, cancel := context.WithCancel(t.Context())
		greedy := []func(){
			newOwner(q, fair.MaxWeight).metered().flood(ctx, 64, always(20*ms)), newOwner(q, 10).metered().flood(ctx, 64, always(100*time.Microsecond)),
		}
		time.Sleep(time.Second)
		var small sync.WaitGroup
		for range 100 {
			small.Go(func() {
				if err := newOwner(q, 1).metered().call(ctx, ms, 5*time.Second); err != nil {
					t.Error(err)
				}
			})
		}
		small.Wait()
		cancel()
		for _, wait := range greedy {
			wait()
		}
	})
}

func TestStartsAreCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, fair.Config{Slots: 2})
		ctx, cancel := context.WithCancel(t.Context())
		starts, calls := newOwner(q, 1).metered(), newOwner(q, 1).metered()
		waits := []func(){starts.flood(ctx, 8, always(ms)), calls.flood(ctx, 8, always(ms))}
		for range 40 { // of its starts: half a processor
			time.Sleep(100 * ms)
			starts.Charge(50 * ms)
		}
		a, b := starts.total()+2*time.Second, calls.total()
		cancel()
		for _, wait := range waits {
			wait()
		}
		if ratio := float64(a) / float64(b); ratio < 0.9 || ratio > 1.1 {
			t.Errorf("with its starts, one owner got %v and the other %v, want the same", a, b)
		}
	})
}

// TestWaitingIsBounded has an owner with 10,000 calls at once. 64 of them wait; another owner has its call at once.
func TestWaitingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, fair.Config{Slots: 2, MaxWaiting: 100})
		ctx, cancel := context.WithCancel(t.Context())
		o := newOwner(q, 1)
		var all sync.WaitGroup
		refused := make(chan error, 10_000)
		for range 10_000 {
			all.Go(func() {
				if err := o.call(ctx, time.Second, time.Hour); err != nil {
					refused <- err
				}
			})
		}
		synctest.Wait()
		if s := q.Stats(); s.Running != 2 || s.Waiting != 64 || o.Waiting() != 64 || len(refused) != 10_000-66 {
			t.Errorf("got %+v, %d of the owner, %d refused", s, o.Waiting(), len(refused))
		}
		checkBusy(t, <-refused, "tenant")
		second := newOwner(q, 1)
		for range 36 {
			all.Go(func() { _ = second.call(ctx, time.Second, time.Hour) })
		}
		synctest.Wait()
		checkBusy(t, newOwner(q, 1).call(ctx, time.Second, time.Hour), "server")
		cancel()
		all.Wait()
		if s := q.Stats(); s.Running != 0 || s.Waiting != 0 {
			t.Errorf("after all were cancelled: %+v", s)
		}
	})
}

// checkBusy checks that a client can tell whose limit was hit, and when to retry.
func checkBusy(t *testing.T, err error, of string) {
	t.Helper()
	var busy *abi.Error
	var limit *admission.Error
	if !errors.As(err, &busy) || busy.Code != abi.CodeBusy || busy.RetryAfter < 100*ms || busy.RetryAfter > 10*time.Second {
		t.Errorf("got %#v, want busy", err)
	}
	if !errors.As(err, &limit) || limit.Limit != admission.Queue || limit.Of != of || limit.RetryAfter != busy.RetryAfter {
		t.Errorf("got %#v, want the limit of the %s", limit, of)
	}
}

// TestAWaitEnds has calls that are cancelled or come too late leave their line at once.
func TestAWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, fair.Config{Slots: 1})
		o := newOwner(q, 1)
		go func() { _ = o.call(context.Background(), time.Minute, time.Second) }()
		synctest.Wait()
		gone, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := o.call(gone, ms, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("cancelled: %v after %v", err, time.Since(began))
		}
		began = time.Now()
		err := o.call(t.Context(), ms, 2*time.Second)
		if time.Since(began) != 2*time.Second {
			t.Errorf("late: after %v", time.Since(began))
		}
		checkBusy(t, err, "server")
		if s := q.Stats(); s.Waiting != 0 || s.Running != 1 {
			t.Errorf("got %+v", s)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := q.Stats(); s.Running != 0 {
			t.Errorf("at the end: %+v", s)
		}
	})
}

// TestACallThatWaitsForSomethingElseHoldsNoSlot has as many calls wait for a database as there are slots.
func TestACallThatWaitsForSomethingElseHoldsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, fair.Config{Slots: 2})
		o := newOwner(q, 1)
		database := make(chan struct{})
		var turns [2]fair.Turn
		var order []string
		var mu sync.Mutex
		note := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, what)
		}
		var waiting sync.WaitGroup
		for i := range turns {
			turn := &turns[i]
			turn.Init(o.Share, nil)
			if err := turn.Enter(t.Context(), nil, time.Second); err != nil {
				t.Fatal(err)
			}
			waiting.Go(func() {
				turn.Yield(ms)
				<-database
				if err := turn.Resume(t.Context(), time.Minute); err != nil {
					t.Error(err)
				}
				note("resumed")
				turn.Leave(2 * ms)
			})
		}
		synctest.Wait()
		if s := q.Stats(); s.Running != 0 {
			t.Errorf("while they wait: %+v", s)
		}
		for range 4 {
			waiting.Go(func() {
				if err := o.call(t.Context(), time.Second, time.Minute); err != nil {
					t.Error(err)
				}
				note("called")
			})
		}
		synctest.Wait()
		close(database)
		waiting.Wait()
		if got := slices.Index(order, "resumed"); got > 2 {
			t.Errorf("got %v, want calls that have begun before those that have not", order)
		}
	})
}

// TestQueueConfigIsChecked has values out of range.
func TestQueueConfigIsChecked(t *testing.T) {
	for _, cfg := range []fair.Config{
		{}, {Slots: -1}, {Slots: 1 << 20}, {Slots: 1, MaxWaiting: -1}, {Slots: 1, MaxWaitingOfShare: -1}, {Slots: 1, Slice: -1},
	} {
		if _, err := fair.New(cfg); err == nil {
			t.Errorf("%+v: accepted", cfg)
		}
	}
}

// TestTheZeroTurnDoesNothing is what guests have outside of servers of tenants.
func TestTheZeroTurnDoesNothing(t *testing.T) {
	var turn fair.Turn
	var share *fair.Share
	turn.Init(share, nil)
	if err := turn.Enter(t.Context(), share.NewMeter(nil), 0); err != nil {
		t.Error(err)
	}
	turn.Yield(ms)
	if err := turn.Resume(t.Context(), 0); err != nil || turn.Waited() != 0 || share.Waiting() != 0 {
		t.Error(err)
	}
	share.Charge(ms)
	share.SetWeight(3)
	turn.Leave(ms)
}
