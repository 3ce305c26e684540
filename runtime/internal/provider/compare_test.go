package provider_test

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
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/meter"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/internal/provider"
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
			Runner: run, Limits: limits.Limits{Timeout: time.Second, Memory: 1 << 20, Output: 1e6},
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
			Runner: run, Compare: &provider.Comparison{Runner: run, OneOf: 2, Wait: true, OnCompared: seen.add},
		}, p)
		for range 4 {
			if body, err := readURI(t, m, "x:o"); body != "fine" || err != nil {
				t.Fatalf("got %q, %v", body, err)
			}
		}
		all := seen.take()
		if len(all) != 2 || asked.Load() != 4*3 {
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

// A valued is a runner that notes a value of the contexts in which it opens modules.
type valued struct {
	pool.InProcess
	seen chan<- any
}

type valuedKey struct{}

func (v valued) Open(ctx context.Context, h *guest.Host) (guest.Guests, error) {
	v.seen <- ctx.Value(valuedKey{})
	return v.InProcess.Open(ctx, h)
}

// The module of second runs belongs to the owner of the first.
func TestASecondRunHasTheContextOfTheFirstOpening(t *testing.T) {
	for _, wait := range []bool{false, true} {
		seen := make(chan any, 2)
		run := valued{pool.InProcess{Engine: openEngine(t)}, seen}
		opening, end := context.WithCancel(context.WithValue(t.Context(), valuedKey{}, "acme"))
		m, err := provider.Open(opening, provider.Config{
			Runner: run, Compare: &provider.Comparison{Runner: run, OneOf: 1, Wait: wait, Slots: make(chan struct{}, 1)},
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
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
