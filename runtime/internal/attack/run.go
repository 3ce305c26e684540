package attack

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

const (
	pace     = 2 * time.Millisecond // from one read of the neighbour to the next
	startUp  = 5 * time.Second      // of the processes that compile and run a module, on a machine with other work
	patience = 15 * time.Second     // for a read of the neighbour
	recovery = time.Minute          // for an honest read after an attack: longer than a provider that keeps crashing is refused
)

// Config is what [Run] attacks.
type Config struct {
	Provider provider.Config // of each load; Run sets Limits and Services
	// Neighbour reads from another provider of the same host. Run calls it every 2 ms, from one goroutine.
	Neighbour func(ctx context.Context) error
	// Compile is how long the host lets one compilation take.
	Compile time.Duration
}

// A Result says how one case ended.
type Result struct {
	Case    hostile.Case
	Ends    []string      // the names of the codes that loads and calls ended with, sorted
	Took    time.Duration // in all
	Slowest time.Duration // the longest load or call
	Broken  []string      // the promises that did not hold
	Reads   int           // of the neighbour meanwhile
	Longest time.Duration // the longest of them
}

// Cases returns the cases of some classes, which are rows of the corpus; without a class, all: the catalogue, and the attacks
// in each phase of a provider.
func Cases(classes ...string) ([]hostile.Case, error) {
	rows := append(hostile.Rows(), hostile.RowPhases)
	for _, class := range classes {
		if !slices.Contains(rows, hostile.Row(class)) {
			return nil, fmt.Errorf("there is no class of attacks %q: there are %q", class, rows)
		}
	}
	all := slices.Concat(hostile.Cases(), hostile.Generated(false))
	if len(classes) == 0 {
		return all, nil
	}
	return slices.DeleteFunc(all, func(c hostile.Case) bool { return !slices.Contains(classes, string(c.Row)) }), nil
}

// Run makes each case, one after the other, and passes its Result to each. It ends early, with the error of ctx, when ctx
// ends.
func Run(ctx context.Context, cfg Config, cases []hostile.Case, each func(Result)) error {
	n := observe(ctx, cfg.Neighbour)
	defer n.stop()
	for _, c := range cases {
		if err := ctx.Err(); err != nil {
			return err
		}
		each(run(cfg, c, n))
	}
	return nil
}

func run(cfg Config, c hostile.Case, n *neighbour) Result {
	n.reset()
	idle := WatchClock()
	start := time.Now()
	a := attempt(cfg.Provider, c)
	took := time.Since(start)
	seen := n.await()
	b := BoundsOf(c)
	noise := 2 * idle.Stop()
	b.Call += noise
	b.Load += noise
	b.Load += startUp
	if c.Compile > 0 || c.Row == hostile.RowCompile {
		b.Load += cfg.Compile
	}
	return Result{
		Case: c, Ends: slices.Sorted(maps.Keys(a.Codes)), Took: took, Slowest: max(a.Outcome.Load, a.Outcome.Call),
		Broken: append(a.Broken(b), seen.broken()...), Reads: seen.reads, Longest: seen.longest,
	}
}

// attempt makes a case with all its modules.
func attempt(cfg provider.Config, c hostile.Case) *Attempt {
	cfg.Limits = LimitsOf(c)
	if c.Row == hostile.RowPhases {
		cfg.Services = capability.Services{abi.ServiceConfig: capability.Config{"k": "v"}}
	}
	a := New(c, cfg)
	for _, module := range c.Modules() {
		if err := a.Try(module, recovery); err != nil {
			a.note(a.Codes, fmt.Errorf("close the provider: %w", err))
		}
	}
	return a
}

// A neighbour reads from an honest provider, again and again.
type neighbour struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
	read   chan struct{} // has an element after a read

	mu   sync.Mutex
	seen sight // guarded by mu
}

// A sight is how the reads of the neighbour went.
type sight struct {
	reads   int
	longest time.Duration
	err     error // of the last that failed
}

func (s sight) broken() []string {
	switch {
	case s.err != nil:
		return []string{"a read of the neighbour failed: " + s.err.Error()}
	case s.reads == 0:
		return []string{fmt.Sprintf("the neighbour had no answer for %v", patience)}
	}
	return nil
}

func observe(ctx context.Context, read func(context.Context) error) *neighbour {
	ctx, cancel := context.WithCancel(ctx)
	n := &neighbour{cancel: cancel, read: make(chan struct{}, 1)}
	n.done.Go(func() {
		ticker := time.NewTicker(pace)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				n.readOnce(ctx, read)
			}
		}
	})
	return n
}

func (n *neighbour) readOnce(ctx context.Context, read func(context.Context) error) {
	start := time.Now()
	err := read(ctx)
	took := time.Since(start)
	if ctx.Err() != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seen.reads++
	n.seen.longest = max(n.seen.longest, took)
	if err != nil {
		n.seen.err = err
	}
	select {
	case n.read <- struct{}{}:
	default:
	}
}

// reset forgets all reads until now.
func (n *neighbour) reset() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seen = sight{}
	select {
	case <-n.read:
	default:
	}
}

// await waits for a read since reset, for a while, and returns how the reads went.
func (n *neighbour) await() sight {
	select {
	case <-n.read:
	case <-time.After(patience):
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.seen
}

func (n *neighbour) stop() {
	n.cancel()
	n.done.Wait()
}
