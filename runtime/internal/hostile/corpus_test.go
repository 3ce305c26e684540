//go:build linux

package hostile_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/hostile"
)

// Bounds. They exclude what hangs for ever and what takes gigabytes; how good the figures really are is logged, and
// measured by the benchmarks.
const (
	overshoot  = 250 * time.Millisecond // over the deadline of a call
	stall      = 250 * time.Millisecond // in which a neighbour may not run
	aMoment    = 750 * time.Millisecond // to refuse a module, or to load a small one
	spareBytes = 64 << 20               // of resident memory beside the limit of an instance
	refusal    = 16 << 20               // bytes of garbage to refuse a module
	errorText  = 4 << 10                // bytes of an error
	startUp    = 15 * time.Second       // of a child, and between its cases
)

// slow is how much longer everything but native code takes under the race detector, and how much more memory.
func slow[T ~int64](n T) T {
	if raceEnabled {
		return 4 * n
	}
	return n
}

// mayLoad is how long one load of a case may take: to compile, and to initialise, which is under the deadline of a call.
func mayLoad(c hostile.Case) time.Duration {
	return slow(aMoment+c.Compile) + limitsOf(c).Timeout + overshoot
}

// mayCall is how long one call may take. A crowd has to share the processors.
func mayCall(c hostile.Case) time.Duration {
	return limitsOf(c).Timeout + overshoot*time.Duration(max(1, c.Parallel/4))
}

// mayTake is how much resident memory a case may take. One instance at a time uses all that it may have; attacks by
// several at once use little memory each.
func mayTake(c hostile.Case) int64 { return slow(spareBytes + int64(limitsOf(c).Memory)) }

// patience is when a child is killed that has said nothing: well after everything has gone on for longer than it may.
// Where there are many calls most of them are expected to end early.
func patience(c hostile.Case) time.Duration {
	calls := time.Duration(max(c.Loads, 1) * (max(c.Times, 1) + 1))
	return slow(5*time.Second) + min(calls, 30)*mayCall(c) + 2*slow(c.Compile)
}

func TestHostileModulesAreRefusedAtOnce(t *testing.T) {
	alone(t)
	var cases []hostile.Case
	for _, c := range hostile.Cases() {
		if c.LoadOnly() && wanted(c) {
			cases = append(cases, c)
		}
	}
	judgeAll(t, cases)
}

func TestHostileGuestsAreStopped(t *testing.T) {
	alone(t)
	for _, row := range hostile.Rows() {
		var cases []hostile.Case
		for _, c := range hostile.Cases() {
			if c.Row == row && !c.LoadOnly() && wanted(c) {
				cases = append(cases, c)
			}
		}
		t.Run(string(row), func(t *testing.T) { judgeAll(t, cases) })
	}
}

func wanted(c hostile.Case) bool { return *only == "" || *only == c.Name }

// judgeAll runs cases in one process, as long as it lives.
func judgeAll(t *testing.T, cases []hostile.Case) {
	t.Helper()
	verdicts := survey(t, cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { judge(t, c, verdicts[c.Name]) })
	}
}

// judge holds a verdict to what the case wants and to the bounds.
func judge(t *testing.T, c hostile.Case, v verdict) {
	t.Helper()
	if v.died != "" {
		t.Fatalf("%s: the host did not survive (%s): %s", c.Row, c.Why, v.died)
	}
	t.Logf("%v after %v: load %v, call %v, stall %v (%v elsewhere), memory +%d MiB, refusal %d KiB, log %d B, %s", v.Codes, v.After,
		v.Load.Round(time.Microsecond*10), v.Call.Round(time.Microsecond*10), v.Stall.Round(time.Microsecond*10), v.noise.Round(time.Microsecond*10), v.Peak>>20, v.Alloc>>10, v.Log, v.Failure)
	if len(v.Codes) == 0 {
		t.Errorf("nothing was attacked: %d modules", v.Modules)
	}
	for code := range v.Codes {
		if c.Want != nil && !slices.Contains(c.Want, code) {
			t.Errorf("%s: got %v, want %v: %s (%s)", c.Row, v.Codes, c.Want, v.Failure, c.Why)
			break
		}
	}
	for code := range v.After {
		if code != "ok" {
			t.Errorf("a good read afterwards: got %v, want ok: %s", v.After, v.Failure)
			break
		}
	}
	judgeBounds(t, c, v.report, 2*v.noise)
}

// judgeBounds forgives what the whole machine was too busy for.
func judgeBounds(t *testing.T, c hostile.Case, r report, noise time.Duration) {
	t.Helper()
	for _, b := range []struct {
		what string
		got  int64
		most int64
	}{
		{"ns to load", int64(r.Load), int64(mayLoad(c) + noise)},
		{"ns to call", int64(r.Call), int64(mayCall(c) + noise)},
		{"ns in which a neighbour could not run", int64(r.Stall), int64(slow(stall) + noise)},
		{"bytes of memory", r.Peak, mayTake(c)},
		{"bytes of log", r.Log, mayLog(c, r)},
		{"bytes of error", int64(r.Text), errorText},
		{"goroutines left", int64(r.Left), 0},
	} {
		if b.got > b.most {
			t.Errorf("%s: got %d %s, at most %d are allowed", c.Row, b.got, b.what, b.most)
		}
	}
	if c.LoadOnly() && r.Alloc > refusal {
		t.Errorf("%s: got %d bytes of garbage to refuse a module, at most %d are allowed", c.Row, r.Alloc, int64(refusal))
	}
	if r.Unclean != "" {
		t.Errorf("an error has control characters: %s", r.Unclean)
	}
}

// mayLog is how much a case may write to the log: each call its budget, of which each byte may be escaped, and a few
// lines of the host's own.
func mayLog(c hostile.Case, r report) int64 {
	calls := r.Modules * max(c.Loads, 1) * (max(c.Times, 1)*max(c.Parallel, 1) + 4)
	return int64(calls) * (6*logLimit + 8<<10)
}
