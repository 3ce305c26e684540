package provider_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// readState reads from reset.wasm: what earlier calls have left, and the seed as the guest prints it.
func readState(t *testing.T, m *provider.Provider, uri string) (state, seed string) {
	t.Helper()
	var got contents
	if _, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: uri}, &got); err != nil {
		t.Fatal(err)
	}
	m.AfterResponse()
	return string(got.body), got.heads[0].ETag
}

func TestAnInstanceIsWarmedOnceAndSeededForEachCall(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		m := load(t, provider.Config{Runner: run}, "reset.wasm")
		seeds := map[string]bool{}
		for range 20 {
			state, seed := readState(t, m, "x:o")
			if state != "1-s" {
				t.Fatalf("got %q, want it warmed once, with its table as it was, and a seed", state)
			}
			seeds[seed] = true
		}
		if len(seeds) != 20 {
			t.Errorf("got %d seeds for 20 calls", len(seeds))
		}
	})
}

func TestAnInstanceThatChangedItsTableIsReplaced(t *testing.T) {
	e := &counter{Engine: openEngine(t)}
	m, err := provider.Open(t.Context(), provider.Config{Runner: pool.InProcess{Engine: e}}, readModule(t, "reset.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if info := m.Info(); info.Reset != guest.ResetOrReplace || !strings.Contains(info.Why, "table.set") {
		t.Errorf("got reset mode %s, %q, want it to be replaced because of table.set", info.Reset, info.Why)
	}
	for i, step := range []struct {
		uri  string
		made int64 // instances in all, including the first
	}{{"x:o", 2}, {"x:o", 2}, {"x:t", 3}, {"x:o", 3}, {"x:t", 4}, {"x:t", 5}} {
		if state, _ := readState(t, m, step.uri); state != "1-s" {
			t.Errorf("step %d: got %q: an earlier call was seen", i, state)
		}
		if got := e.made.Load(); got != step.made {
			t.Errorf("step %d, %s: %d instances were made, want %d", i, step.uri, got, step.made)
		}
	}
	if got := e.open.Load(); got != 1 {
		t.Errorf("%d instances are open, want the last", got)
	}
}

func TestAGuestThatChangesItsTableWhileItStartsIsStartedForEachCall(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		m := load(t, provider.Config{Runner: run}, "boots.wasm")
		if info := m.Info(); info.Reset != guest.StartFresh || !strings.Contains(info.Why, "table.set") {
			t.Errorf("got reset mode %s, %q, want each call to boot because of table.set", info.Reset, info.Why)
		}
		for range 3 {
			if body, err := readURI(t, m, "x:b"); body != "1" || err != nil {
				t.Errorf("got %q, %v, want 1: an earlier call was seen", body, err)
			}
			m.AfterResponse()
		}
	})
}

func TestFuelIsTheSameEachTimeAndStopsWhereItEnds(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		var used []limits.Usage
		cfg := provider.Config{Runner: run, OnCall: func(_ context.Context, u limits.Usage) { u.CPU = 0; used = append(used, u) }}
		m := load(t, cfg, "faults.wasm")
		for range 3 {
			if _, err := readURI(t, m, "x:k"); err != nil {
				t.Fatal(err)
			}
		}
		again := load(t, cfg, "faults.wasm")
		if _, err := readURI(t, again, "x:k"); err != nil {
			t.Fatal(err)
		}
		for _, u := range used {
			if u != used[0] || u.Fuel == 0 || u.Op != abi.OpRead || u.Code != abi.CodeOK || u.HostCalls != 102 || u.Bytes != 4 {
				t.Errorf("got %+v, want the same as %+v", u, used[0])
			}
		}
		enough, tooLittle := used[0].Fuel, used[0].Fuel-1
		for fuel, want := range map[uint64]abi.Code{enough: abi.CodeOK, tooLittle: abi.CodeFuel} {
			m := load(t, provider.Config{Runner: run, Limits: limits.Limits{Fuel: max(fuel, 1)}}, "faults.wasm")
			if _, err := readURI(t, m, "x:k"); abi.CodeOf(err) != want {
				t.Errorf("fuel %d: got %v, want %v", fuel, err, want)
			}
		}
	})
}

func TestFuelStopsAnEndlessLoopAndTheNextCallWorks(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		var used limits.Usage
		m := load(t, provider.Config{
			Runner: run, Limits: limits.Limits{Fuel: 2_000_000, Timeout: time.Minute}, OnCall: func(_ context.Context, u limits.Usage) { used = u },
		}, "faults.wasm")
		for range 3 {
			_, err := readURI(t, m, "x:e")
			if used.Fuel <= 2_000_000 || used.Fuel > 2_001_000 {
				t.Errorf("got %d units used, want hardly more than the limit", used.Fuel)
			}
			if abi.CodeOf(err) != abi.CodeFuel || !strings.Contains(err.Error(), "more than 2000000 units") {
				t.Errorf("got %v, want fuel", err)
			}
			if body, err := readURI(t, m, "x:o"); body != "fine" || err != nil {
				t.Errorf("next call: got %q, %v", body, err)
			}
		}
	})
}

func TestHostCallsAreCounted(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		m := load(t, provider.Config{Runner: run, Limits: limits.Limits{HostCalls: 50}}, "faults.wasm")
		if _, err := readURI(t, m, "x:k"); abi.CodeOf(err) != abi.CodeHostCalls {
			t.Errorf("100 lines of log: got %v, want host_calls", err)
		}
		if body, err := readURI(t, m, "x:o"); body != "fine" || err != nil {
			t.Errorf("next call: got %q, %v", body, err)
		}
	})
}

func TestAnInstanceSurvivesBeingStopped(t *testing.T) {
	for name, tt := range map[string]struct {
		uri    string
		limits limits.Limits
		want   abi.Code
	}{
		"deadline":   {"x:e", limits.Limits{}, abi.CodeDeadline},
		"fuel":       {"x:e", limits.Limits{Fuel: 1_000_000}, abi.CodeFuel},
		"stack":      {"x:q", limits.Limits{}, abi.CodeStack},
		"host calls": {"x:k", limits.Limits{HostCalls: 10}, abi.CodeHostCalls},
		"output":     {"x:l", limits.Limits{Output: 1e6}, abi.CodeTooLarge},
		"memory":     {"x:f", limits.Limits{Memory: 1 << 20}, abi.CodeMemory},
		"trap":       {"x:a", limits.Limits{}, abi.CodeTrap},
		"exit":       {"x:m", limits.Limits{}, abi.CodeExit},
	} {
		t.Run(name, func(t *testing.T) {
			e := &counter{Engine: openEngine(t)}
			tt.limits.Timeout = patience
			m, err := provider.Open(t.Context(), provider.Config{Runner: pool.InProcess{Engine: e}, Limits: tt.limits}, readModule(t, "faults.wasm"))
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			for range 3 {
				ctx, cancel := t.Context(), func() {}
				if tt.want == abi.CodeDeadline {
					ctx, cancel = context.WithTimeout(ctx, 200*time.Millisecond)
				}
				if _, err := m.Call(ctx, abi.OpRead, &abi.Request{URI: tt.uri}, &contents{}); abi.CodeOf(err) != tt.want {
					t.Errorf("got %v, want %v", err, tt.want)
				}
				cancel()
				if body, err := readURI(t, m, "x:o"); body != "fine" || err != nil {
					t.Errorf("next call: got %q, %v", body, err)
				}
			}
			if got := e.made.Load(); got != 2 {
				t.Errorf("%d instances were made, want the one that started and one for all calls", got)
			}
		})
	}
}
