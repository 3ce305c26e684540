//go:build linux

package hostile_test

import (
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/attack"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
)

// Bounds. They exclude what hangs for ever and what takes gigabytes; how good the figures really are is logged, and
// measured by the benchmarks.
const (
	stall      = 250 * time.Millisecond // in which a neighbour may not run
	aMoment    = 750 * time.Millisecond // to read after an attack
	spareBytes = 64 << 20               // of resident memory beside the limit of an instance
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

// memoryTime is how many times longer than 33 ms this machine takes for the first use of 64 MiB of memory, at least 1: on some, it
// is what a neighbour waits for most.
var memoryTime = sync.OnceValue(func() time.Duration {
	const size, usual = 64 << 20, 33 * time.Millisecond
	began := time.Now()
	fresh, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return 1
	}
	for i := 0; i < size; i += os.Getpagesize() {
		fresh[i] = 1
	}
	took := time.Since(began)
	_ = syscall.Munmap(fresh)
	return max(1, (took+usual-1)/usual)
})

// boundsOf are those of a case, where the whole machine was too busy for some time. A call may use all of its memory for the first time
// just before it is stopped, and that memory is then given back.
func boundsOf(c hostile.Case, noise time.Duration) attack.Bounds {
	noise += (memoryTime() - 1) * 100 * time.Millisecond
	b := attack.BoundsOf(c)
	b.Load, b.Call = slow(b.Load)+noise, b.Call+noise
	return b
}

// mayTake is how much resident memory a case may take. One instance at a time uses all that it may have; attacks by
// several at once use little memory each.
func mayTake(c hostile.Case) int64 { return slow(spareBytes + int64(attack.LimitsOf(c).Memory)) }

// patience is when a child is killed that has said nothing: well after everything has gone on for longer than it may.
// Where there are many calls most of them are expected to end early.
func patience(c hostile.Case) time.Duration {
	calls := time.Duration(max(c.Loads, 1) * (max(c.Times, 1) + 1))
	return slow(5*time.Second) + min(calls, 30)*attack.BoundsOf(c).Call + 2*slow(c.Compile)
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
	a := attack.Attempt{Case: c, Outcome: v.Outcome}
	for _, broken := range a.Broken(boundsOf(c, 2*v.noise)) {
		t.Errorf("%s: %s (%s)", c.Row, broken, c.Why)
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
		{"ns in which a neighbour could not run", int64(r.Stall), int64(slow(stall)*memoryTime() + noise)},
		{"bytes of memory", r.Peak, mayTake(c)},
		{"bytes of log", r.Log, mayLog(c, r)},
		{"goroutines left", int64(r.Left), 0},
	} {
		if b.got > b.most {
			t.Errorf("%s: got %d %s, at most %d are allowed", c.Row, b.got, b.what, b.most)
		}
	}
}

// mayLog is how much a case may write to the log: each call its budget, of which each byte may be escaped, and a few
// lines of the host's own.
func mayLog(c hostile.Case, r report) int64 {
	calls := r.Modules * max(c.Loads, 1) * (max(c.Times, 1)*max(c.Parallel, 1) + 4)
	return int64(calls) * (6*attack.LogLimit + 8<<10)
}
