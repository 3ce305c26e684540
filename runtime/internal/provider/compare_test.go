package provider_test

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/fair"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/meter"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker/link"
	"github.com/wasmres/wasmres/runtime/limits"
)

// comparisons collects what was compared.
type comparisons struct {
	mu  sync.Mutex
	all []*provider.Compared
}

func (c *comparisons) add(one *provider.Compared) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, one)
}

func (c *comparisons) take() (all []*provider.Compared) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all, c.all = c.all, nil
	return all
}

func TestCallsThatRunTwiceEndInTheSameWay(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		var seen comparisons
		m := load(t, provider.Config{
			Runner: run, Limits: limits.Limits{Memory: 1 << 20, Output: 1e6},
			Compare: &provider.Comparison{Runner: run, OneOf: 1, Wait: true, OnCompared: seen.add},
		}, "faults.wasm")
		for _, c := range []struct {
			uri  string
			code abi.Code
		}{{"x:o", abi.CodeOK}, {"x:a", abi.CodeTrap}, {"x:f", abi.CodeMemory}, {"x:j", abi.CodeNotFound}, {"x:m", abi.CodeExit}, {"x:u", abi.CodeDenied}, {"x:q", abi.CodeStack}} {
			if _, err := readURI(t, m, c.uri); abi.CodeOf(err) != c.code {
				t.Fatalf("%s: got %v", c.uri, err)
			}
			all := seen.take()
			if len(all) != 1 {
				t.Fatalf("%s: compared %d times", c.uri, len(all))
			}
			one := all[0]
			if one.Failed != nil || len(one.Differences) > 0 || one.Second.Used.Code != c.code || one.Second.Used.Fuel == 0 {
				t.Errorf("%s: got %+v", c.uri, one)
			}
		}
	})
}

// What the services do is done once, and both runs see the same.
func TestASecondRunCallsNoServices(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		var seen comparisons
		var asked atomic.Int64
		p := &guesttest.Puppet{Next: func(_ context.Context, op abi.Op, n int, _ *abi.Request) guesttest.Step {
			if op != abi.OpRead {
				return guesttest.Return(abi.CodeOK)
			}
			asked.Add(1)
			return []guesttest.Step{guesttest.Ask(abi.ServiceKVGet, []byte("not granted")), guesttest.Emit(fine), guesttest.Return(abi.CodeOK)}[n]
		}}
		m := loadPuppet(t, provider.Config{
			Runner: run, Compare: &provider.Comparison{Runner: run, OneOf: 1, Wait: true, OnCompared: seen.add},
		}, p)
		for range 4 {
			if body, err := readURI(t, m, "x:o"); body != "fine" || err != nil {
				t.Fatalf("got %q, %v", body, err)
			}
		}
		all := seen.take()
		if len(all) != 4 || asked.Load() != 4*3 {
			t.Fatalf("compared %d of 4 calls, and asked %d times, want 12", len(all), asked.Load())
		}
		for _, one := range all {
			if one.Failed != nil || len(one.Differences) > 0 || !strings.Contains(string(one.Second.Content), "fine") {
				t.Errorf("got %+v", one)
			}
		}
	})
}

// A liar is an engine that burns fuel after each call.
type liar struct{ engine.Engine }

type lyingModule struct{ engine.Module }

type lyingInstance struct{ engine.Instance }

func (l liar) Compile(ctx context.Context, wasm []byte, host []engine.HostFunc) (engine.Module, error) {
	m, err := l.Engine.Compile(ctx, wasm, host)
	return lyingModule{m}, err
}

func (m lyingModule) Instantiate(ctx context.Context, host any, memory engine.LinearMemory) (engine.Instance, error) {
	i, err := m.Module.Instantiate(ctx, host, memory)
	return lyingInstance{i}, err
}

func (i lyingInstance) Call(ctx context.Context, export string, stack []uint64) error {
	err := i.Instance.Call(ctx, export, stack)
	fuel := i.Global(meter.ExportFuel)
	fuel.Set(fuel.Get() - 7)
	return err
}

// A comparison that waits for no call is left out while there is no slot, and reports what differs.
func TestADifferenceIsReported(t *testing.T) {
	run := pool.InProcess{Engine: openEngine(t)}
	seen := make(chan *provider.Compared, 1)
	slots := make(chan struct{}, 1)
	m := load(t, provider.Config{Runner: run, Compare: &provider.Comparison{
		Runner: pool.InProcess{Engine: liar{openEngine(t)}}, OneOf: 1, Slots: slots, OnCompared: func(c *provider.Compared) { seen <- c },
	}}, "faults.wasm")
	slots <- struct{}{}
	if _, err := readURI(t, m, "x:a"); abi.CodeOf(err) != abi.CodeTrap {
		t.Fatal(err)
	}
	<-slots
	if _, err := readURI(t, m, "x:o"); err != nil {
		t.Fatal(err)
	}
	one := <-seen
	if one.Request.URI != "x:o" || len(one.Differences) != 1 || !strings.HasPrefix(one.Differences[0], "the fuel is ") {
		t.Errorf("got %+v", one)
	}
}

// A refuser is a runner that opens nothing.
type refuser struct{ pool.InProcess }

var errRefused = errors.New("refused")

func (refuser) Open(context.Context, *guest.Host) (guest.Guests, error) { return nil, errRefused }

func TestAComparisonThatFailsIsNoDifference(t *testing.T) {
	var seen comparisons
	m := load(t, provider.Config{Compare: &provider.Comparison{Runner: refuser{}, OneOf: 1, Wait: true, OnCompared: seen.add}}, "faults.wasm")
	if _, err := readURI(t, m, "x:o"); err != nil {
		t.Fatal(err)
	}
	all := seen.take()
	if len(all) != 1 || !errors.Is(all[0].Failed, errRefused) || len(all[0].Differences) > 0 {
		t.Errorf("got %+v", all)
	}
}

// A valued is a runner that notes a value of the contexts in which it opens modules, and what pays for them.
type valued struct {
	pool.InProcess
	seen chan<- any
	paid chan<- *fair.Share
}

type valuedKey struct{}

func (v valued) Open(ctx context.Context, h *guest.Host) (guest.Guests, error) {
	v.seen <- ctx.Value(valuedKey{})
	v.paid <- h.Share
	return v.InProcess.Open(ctx, h)
}

// The module of second runs belongs to the owner of the first. Its share pays for them, unless the call waits, which has a processor.
func TestASecondRunBelongsToTheOwnerOfTheFirst(t *testing.T) {
	q, err := fair.New(fair.Config{Slots: 1})
	if err != nil {
		t.Fatal(err)
	}
	share := q.NewShare(1)
	for _, wait := range []bool{false, true} {
		seen, paid := make(chan any, 2), make(chan *fair.Share, 2)
		run := valued{pool.InProcess{Engine: openEngine(t)}, seen, paid}
		opening, end := context.WithCancel(context.WithValue(t.Context(), valuedKey{}, "acme"))
		m, err := provider.Open(opening, provider.Config{
			Runner: run, Share: share, Compare: &provider.Comparison{Runner: run, OneOf: 1, Wait: wait, Slots: make(chan struct{}, 1)},
		}, readModule(t, "faults.wasm"))
		end()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readURI(t, m, "x:o"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := <-seen; got != "acme" {
				t.Errorf("a call that waits %t: opened with the value %v, want acme", wait, got)
			}
		}
		if first, second := <-paid, <-paid; first != share || (second == share) == wait {
			t.Errorf("a call that waits %t: %p pays for the first run and %p for the second, and the share is %p", wait, first, second, share)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A client that counts calls cannot tell which one is compared.
func TestCallsToCompareAreDrawnAtRandom(t *testing.T) {
	run := pool.InProcess{Engine: openEngine(t)}
	var seen comparisons
	m := load(t, provider.Config{Runner: run, Compare: &provider.Comparison{Runner: run, OneOf: 2, Wait: true, OnCompared: seen.add}}, "faults.wasm")
	const calls = 64
	repeated := 0 // calls that were drawn, or not, as the call before
	before := -1
	for range calls {
		if _, err := readURI(t, m, "x:o"); err != nil {
			t.Fatal(err)
		}
		drawn := len(seen.take())
		if drawn == before {
			repeated++
		}
		before = drawn
	}
	if repeated == 0 || repeated == calls-1 {
		t.Errorf("%d of %d calls were drawn as the call before, want some", repeated, calls)
	}
}

// A taped is a runner that notes whether calls have tapes, and the times at which they begin.
type taped struct {
	pool.InProcess
	tapes *[]bool
	times *[]time.Time
}

type tapedGuests struct {
	guest.Guests
	taped
}

func (r taped) Open(ctx context.Context, h *guest.Host) (guest.Guests, error) {
	g, err := r.InProcess.Open(ctx, h)
	return tapedGuests{g, r}, err
}

func (g tapedGuests) Call(ctx *deadline.Context, c *guest.Call) error {
	tape, _ := c.Tapes()
	*g.tapes, *g.times = append(*g.tapes, tape != nil), append(*g.times, c.Origin().Time)
	return g.Guests.Call(ctx, c)
}

// Only a call that is compared costs what a tape does, and the guest cannot tell which one that is.
func TestOnlyCallsThatAreComparedHaveATape(t *testing.T) {
	for _, tt := range []struct {
		oneOf        int
		record, want bool
	}{{1, false, true}, {math.MaxInt, false, false}, {math.MaxInt, true, true}} {
		inner := pool.InProcess{Engine: openEngine(t)}
		run := taped{inner, new([]bool), new([]time.Time)}
		m := load(t, provider.Config{
			Runner: run, Record: tt.record, Compare: &provider.Comparison{Runner: inner, OneOf: tt.oneOf, Wait: true},
		}, "faults.wasm")
		if _, err := readURI(t, m, "x:o"); err != nil {
			t.Fatal(err)
		}
		if got := *run.tapes; len(got) != 1 || got[0] != tt.want {
			t.Errorf("one of %d, recorded %t: calls have tapes %v, want %t", tt.oneOf, tt.record, got, tt.want)
		}
		if (*run.times)[0].IsZero() {
			t.Errorf("one of %d, recorded %t: the call has no time of its own", tt.oneOf, tt.record)
		}
	}
}

// A dying is a runner whose guests lose their process in each call.
type dying struct{ pool.InProcess }

type dyingGuests struct{ guest.Guests }

func (r dying) Open(ctx context.Context, h *guest.Host) (guest.Guests, error) {
	g, err := r.InProcess.Open(ctx, h)
	return dyingGuests{g}, err
}

func (dyingGuests) Call(*deadline.Context, *guest.Call) error {
	return abi.Errorf(abi.CodeUnavailable, "the provider's process has ended").Because(&link.LostError{Err: io.EOF})
}

// An engine that ends the process of a call has not ended the call in the same way.
func TestASecondRunThatLosesItsProcessIsADifference(t *testing.T) {
	inner := pool.InProcess{Engine: openEngine(t)}
	var seen comparisons
	m := load(t, provider.Config{Runner: inner, Compare: &provider.Comparison{Runner: dying{inner}, OneOf: 1, Wait: true, OnCompared: seen.add}}, "faults.wasm")
	if _, err := readURI(t, m, "x:o"); err != nil {
		t.Fatal(err)
	}
	all := seen.take()
	if len(all) != 1 || all[0].Failed != nil || len(all[0].Differences) != 1 || !strings.Contains(all[0].Differences[0], "process") {
		t.Errorf("got %+v", all)
	}
}
