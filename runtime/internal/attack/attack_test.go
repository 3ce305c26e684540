package attack_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/attack"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// inProcess returns what Run attacks: guests in this process.
func inProcess(t *testing.T) attack.Config {
	t.Helper()
	e, err := enginetest.Kind().Open(engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return attack.Config{
		Provider: provider.Config{Runner: pool.InProcess{Engine: e}}, Compile: time.Minute,
		Neighbour: func(context.Context) error { return nil },
	}
}

// harmless are some cases that end at once.
func harmless(t *testing.T) []hostile.Case {
	t.Helper()
	all, err := attack.Cases(string(hostile.RowTables))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(c hostile.Case) bool { return !c.LoadOnly() })
}

// outcomes makes cases and returns their results.
func outcomes(t *testing.T, cfg attack.Config, cases []hostile.Case) (all []attack.Result) {
	t.Helper()
	if err := attack.Run(t.Context(), cfg, cases, func(r attack.Result) { all = append(all, r) }); err != nil {
		t.Fatal(err)
	}
	if len(all) != len(cases) {
		t.Fatalf("got %d results of %d cases", len(all), len(cases))
	}
	return all
}

func TestPromisesHold(t *testing.T) {
	for _, r := range outcomes(t, inProcess(t), harmless(t)) {
		if len(r.Broken) > 0 || len(r.Ends) == 0 || r.Reads == 0 {
			t.Errorf("%s: got the ends %v, %d reads of the neighbour, and broken promises: %q", r.Case.Name, r.Ends, r.Reads, r.Broken)
		}
	}
}

func TestAFailingNeighbourIsABrokenPromise(t *testing.T) {
	cfg := inProcess(t)
	cfg.Neighbour = func(context.Context) error { return errors.New("no answer") }
	for _, r := range outcomes(t, cfg, harmless(t)[:1]) {
		if len(r.Broken) != 1 || !strings.Contains(r.Broken[0], "no answer") {
			t.Errorf("got %q", r.Broken)
		}
	}
}

func TestAnUnexpectedEndIsABrokenPromise(t *testing.T) {
	c := harmless(t)[0]
	c.Want = []string{"ok"}
	for _, r := range outcomes(t, inProcess(t), []hostile.Case{c}) {
		if len(r.Broken) != 1 || !strings.Contains(r.Broken[0], "expected one of [ok]") {
			t.Errorf("got %q", r.Broken)
		}
	}
}

// restarting is a runner whose guests have crashed: it refuses some calls, and says when to ask again.
type restarting struct {
	pool.InProcess
	refuse int
}

func (r *restarting) Open(ctx context.Context, h *guest.Host) (guest.Guests, error) {
	g, err := r.InProcess.Open(ctx, h)
	return &restartingGuests{g, r}, err
}

type restartingGuests struct {
	guest.Guests
	runner *restarting
}

func (g *restartingGuests) Call(ctx *deadline.Context, c *guest.Call) error {
	if g.runner.refuse == 0 {
		return g.Guests.Call(ctx, c)
	}
	g.runner.refuse--
	return &abi.Error{Code: abi.CodeUnavailable, Message: "the provider keeps crashing", RetryAfter: time.Millisecond}
}

func TestAnHonestReadWaitsForAWorker(t *testing.T) {
	cases, err := attack.Cases(string(hostile.RowStack))
	if err != nil {
		t.Fatal(err)
	}
	c := cases[slices.IndexFunc(cases, func(c hostile.Case) bool { return c.Name == "recursion-honest" })]
	for refuse, want := range map[int]string{3: "ok", 1 << 30: "unavailable"} {
		cfg := inProcess(t).Provider
		cfg.Limits = attack.LimitsOf(c)
		a := attack.New(c, cfg)
		r := &restarting{InProcess: cfg.Runner.(pool.InProcess)}
		a.Config.Runner = r
		p := a.Load(c.Modules()[0])
		if p == nil {
			t.Fatal(a.Failure)
		}
		r.refuse = refuse
		a.ReadAfter(p, 50*time.Millisecond)
		if a.After[want] != 1 {
			t.Errorf("%d refusals: got %v, want one %s", refuse, a.After, want)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	made := 0
	err := attack.Run(ctx, inProcess(t), harmless(t), func(attack.Result) {
		made++
		cancel()
	})
	if !errors.Is(err, context.Canceled) || made != 1 {
		t.Errorf("got %v after %d cases", err, made)
	}
}

func TestCasesOfNoClass(t *testing.T) {
	if _, err := attack.Cases("tables", "teeth"); err == nil || !strings.Contains(err.Error(), `"teeth"`) {
		t.Errorf("got %v", err)
	}
}

func TestBroken(t *testing.T) {
	within := attack.Bounds{Load: time.Second, Call: time.Second, Text: 100, Alloc: 100}
	refused := hostile.Case{Want: []string{"module"}}
	for _, tc := range []struct {
		name    string
		outcome attack.Outcome
		want    string
	}{
		{"nothing done", attack.Outcome{}, "has no module"},
		{"another end", attack.Outcome{Codes: map[string]int{"ok": 1}}, "expected one of [module]"},
		{"an honest read fails", attack.Outcome{Codes: map[string]int{"module": 1}, After: map[string]int{"trap": 1}}, "honest read"},
		{"a long load", attack.Outcome{Codes: map[string]int{"module": 1}, Load: 2 * time.Second}, "a load took 2s"},
		{"a long call", attack.Outcome{Codes: map[string]int{"module": 1}, Call: 2 * time.Second}, "a call took 2s"},
		{"a long error", attack.Outcome{Codes: map[string]int{"module": 1}, Text: 101}, "101 bytes"},
		{"a control character", attack.Outcome{Codes: map[string]int{"module": 1}, Unclean: `"\x1b"`}, "control characters"},
		{"much garbage", attack.Outcome{Codes: map[string]int{"module": 1}, Alloc: 101}, "garbage"},
		{"held", attack.Outcome{Codes: map[string]int{"module": 1}}, ""},
	} {
		a := attack.Attempt{Case: refused, Outcome: tc.outcome}
		got := a.Broken(within)
		if tc.want == "" && len(got) > 0 || tc.want != "" && (len(got) != 1 || !strings.Contains(got[0], tc.want)) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}
