package provider_test

import (
	"fmt"
	"github.com/wasmres/wasmres/runtime/capability"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// TestDeterminismSeedsEachCallByItsRequest has a guest say its seed, in instances that are reset and in new ones.
func TestDeterminismSeedsEachCallByItsRequest(t *testing.T) {
	now := time.Date(2026, 11, 22, 7, 0, 0, 0, time.UTC)
	seeds := map[string]string{} // by URI
	both(t, func(t *testing.T, run guest.Runner) {
		for range 2 {
			m := load(t, provider.Config{Runner: run, Clock: &guest.Clock{Time: now, Seed: 1<<64 - 1}}, "reset.wasm")
			for _, uri := range []string{"x:o", "x:t", "x:p", "x:o", "x:t", "x:o"} {
				_, seed := readState(t, m, uri)
				if seeds[uri] == "" {
					seeds[uri] = seed
				}
				if seed != seeds[uri] {
					t.Errorf("%s: got seed %s, before it was %s", uri, seed, seeds[uri])
				}
			}
		}
		other := load(t, provider.Config{Runner: run, Clock: &guest.Clock{Time: now, Seed: 1}}, "reset.wasm")
		if _, seed := readState(t, other, "x:o"); seed == seeds["x:o"] {
			t.Errorf("two seeds give the same: %s", seed)
		}
	})
	if seeds["x:o"] == seeds["x:p"] || seeds["x:o"] == seeds["x:t"] {
		t.Errorf("got the same seed for several requests: %v", seeds)
	}
}

func TestDeterminismIsChecked(t *testing.T) {
	for _, year := range []int{1, 1970, 2200, 10_000} {
		d := &guest.Clock{Time: time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)}
		_, err := provider.Open(t.Context(), provider.Config{Runner: pool.InProcess{}, Clock: d}, readModule(t, "reset.wasm"))
		if err == nil || !strings.Contains(err.Error(), "it must be from 1971 to 2199") {
			t.Errorf("year %d: got %v", year, err)
		}
	}
}

// TestDeterminismLeavesTheHostItsClock has a guest that never ends: its fixed clock must not stop the timeout.
func TestDeterminismLeavesTheHostItsClock(t *testing.T) {
	if testing.Short() {
		t.Skip("it keeps a processor busy until a deadline")
	}
	both(t, func(t *testing.T, run guest.Runner) {
		m := load(t, provider.Config{
			Runner: run, Limits: limits.Limits{Timeout: time.Second}, Clock: &guest.Clock{Time: time.Now()},
		}, "faults.wasm")
		if _, err := readURI(t, m, "x:e"); abi.CodeOf(err) != abi.CodeDeadline {
			t.Errorf("got %v, want deadline", err)
		}
	})
}

// TestDeterminismOfAGuestThatIsStartedForEachCall reads the clocks of instances that are never reset.
func TestDeterminismOfAGuestThatIsStartedForEachCall(t *testing.T) {
	now := time.Date(2026, 11, 22, 7, 0, 0, 0, time.UTC)
	both(t, func(t *testing.T, run guest.Runner) {
		m := load(t, provider.Config{Runner: run, Clock: &guest.Clock{Time: now}}, "clocks.wasm")
		if info := m.Info(); info.Reset != guest.StartFresh {
			t.Fatalf("got reset mode %s, %s", info.Reset, info.Why)
		}
		for uri, want := range map[string]time.Duration{
			"x:0": time.Duration(now.UnixNano()) + guest.ClockStep, "x:1": time.Hour + guest.ClockStep, "x:2": m.Info().Limits.Timeout - guest.ClockStep,
		} {
			for range 3 {
				if got := clock(t, m, uri); got != want {
					t.Errorf("%s: got %d, want %d", uri, got, want)
				}
			}
		}
	})
}

// clock reads one of clocks.wasm.
func clock(t *testing.T, m *provider.Provider, uri string) (nanos time.Duration) {
	t.Helper()
	body, err := readURI(t, m, uri)
	if err != nil {
		t.Fatal(err)
	}
	m.AfterResponse()
	for i, letter := range []byte(body) {
		nanos |= time.Duration(letter-'a') << (4 * i)
	}
	return nanos
}

func TestAGuestSeesWhichServicesAreGranted(t *testing.T) {
	const granted = abi.ServiceFileStat
	both(t, func(t *testing.T, run guest.Runner) {
		m := load(t, provider.Config{Runner: run, Services: capability.Services{granted: instant{}}}, "clocks.wasm")
		want := 1<<granted | 1<<abi.ServiceNotifyUpdated | 1<<abi.ServiceNotifyList
		if got := clock(t, m, fmt.Sprint("x:", abi.InfoServices)); int(got) != want {
			t.Errorf("got bits %b, want %b", got, want)
		}
	})
}
