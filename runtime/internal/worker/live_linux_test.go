package worker_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
	"github.com/wasmres/wasmres/runtime/internal/worker/live"
)

func newGroup(t *testing.T, cfg live.Config) *live.Group {
	t.Helper()
	g, err := live.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestProvidersTakeTurns has more providers than may live at once, all called at the same time.
func TestProvidersTakeTurns(t *testing.T) {
	leavesNothing(t)
	log := &journal{}
	host, tenant := newGroup(t, live.Config{Max: 3}), newGroup(t, live.Config{Max: 2})
	r := newRunner(t, worker.Config{MaxStarts: 2, Live: host, Logger: log.debug()})
	var all []*provider.Provider
	for i := range 6 {
		cfg := provider.Config{Runner: r, Limits: patient}
		if i%2 == 0 {
			cfg.Live = tenant
		}
		all = append(all, load(t, cfg, wat(t, "faults.wasm")))
	}
	var callers sync.WaitGroup
	for _, m := range all {
		callers.Go(func() {
			for range 4 {
				works(t, m)
				if at := host.Stats(); at.Live+at.Starting > 3 {
					t.Errorf("got %+v, want 3 alive at most", at)
				}
				if at := tenant.Stats(); at.Live+at.Starting > 2 {
					t.Errorf("got %+v of the tenant, want 2 alive at most", at)
				}
			}
		})
	}
	callers.Wait()
	at := host.Stats()
	if at.Evictions == 0 || at.Waiting != 0 || at.Starts < 6 || at.StartTime <= 0 {
		t.Errorf("got %+v, want evictions, six starts and more, and none waiting", at)
	}
	noExits(t, log)
}

// A tenant whose providers all start at once keeps another one from a start for as long as one of them takes.
func TestOwnersStartInTurn(t *testing.T) {
	leavesNothing(t)
	type owner struct{}
	all := newGroup(t, live.Config{})
	r := newRunner(t, worker.Config{MaxStarts: 1, Live: all, OwnerOf: func(ctx context.Context) string {
		of, _ := ctx.Value(owner{}).(string)
		return of
	}})
	load := func(of string) *provider.Provider {
		return loadIn(t, context.WithValue(t.Context(), owner{}, of), provider.Config{Runner: r, Limits: patient}, wat(t, "faults.wasm"))
	}
	var many []*provider.Provider
	for range 12 {
		many = append(many, load("many"))
	}
	one := load("one")
	all.Stop()
	eventually(t, func() bool { return all.Stats().Live == 0 })
	var callers sync.WaitGroup
	var done atomic.Int64 // of many
	for _, m := range many {
		callers.Go(func() {
			works(t, m)
			done.Add(1)
		})
	}
	eventually(t, func() bool { return all.Stats().Starting == len(many) || done.Load() > 0 })
	works(t, one)
	if n := done.Load(); n == int64(len(many)) {
		t.Errorf("one has started after all %d of the other owner", n)
	}
	callers.Wait()
}

func TestACallIsRefusedWhenAllProvidersAreInUse(t *testing.T) {
	leavesNothing(t)
	group := newGroup(t, live.Config{Max: 1})
	r := newRunner(t, worker.Config{Live: group})
	idle := load(t, provider.Config{Runner: r, Limits: patient}, wat(t, "faults.wasm"))
	running, end := make(chan struct{}), make(chan struct{})
	busy := loadPuppet(t, provider.Config{Runner: r, Limits: patient}, func(ctx context.Context, n int, req *abi.Request) guesttest.Step {
		if n == 0 {
			close(running)
			<-end
		}
		return well(ctx, n, req)
	})
	var call sync.WaitGroup
	call.Go(func() { works(t, busy) })
	<-running
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var e *abi.Error
	_, err := read(ctx, idle, "x:o")
	if !errors.As(err, &e) || e.Code != abi.CodeUnavailable || e.RetryAfter <= 0 || !strings.Contains(e.Message, "too many providers are in use") {
		t.Errorf("got %v, want a refusal that says what is full and when to retry", err)
	}
	close(end)
	call.Wait()
	works(t, idle)
}

func TestMemoryBoundsWhatIsLive(t *testing.T) {
	leavesNothing(t)
	group := newGroup(t, live.Config{Memory: 1 << 10})
	r := newRunner(t, worker.Config{Live: group})
	first := load(t, provider.Config{Runner: r, Limits: patient}, wat(t, "faults.wasm"))
	second := load(t, provider.Config{Runner: r, Limits: patient}, wat(t, "faults.wasm"))
	for range 2 {
		works(t, first)
		works(t, second)
	}
	if at := group.Stats(); at.Live != 1 || at.Evictions < 3 {
		t.Errorf("got %+v, want one alive at a time", at)
	}
}
