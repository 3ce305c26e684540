package session_test

import (
	"os"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/session"
	runtime "github.com/wasmres/wasmres/runtime"
)

// both has a test run guests in this process, and in one of their own.
func both(t *testing.T, test func(t *testing.T, h *runtime.Host)) {
	t.Run("in-process", func(t *testing.T) { test(t, inProcess(t)) })
	if goruntime.GOOS != "linux" {
		return
	}
	t.Run("process", func(t *testing.T) {
		if testing.Short() {
			t.Skip("a process prepares each provider again")
		}
		test(t, hostOf(t, runtime.IsolateProcess))
	})
}

// chance returns the module of testdata/chance.
func chance(t *testing.T) []byte {
	t.Helper()
	file, err := guesttest.Source("testdata/chance/main.go")
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

const chanceSteps = `-- time 2026-11-22T07:00:00Z --
-- seed 42 --
-- read chance://time/1 --
-- read chance://time/2 --
-- read chance://number/1 --
-- read chance://number/2 --
`

// record returns a session with the answers of a provider that is opened for it. s changes with it.
func record(t *testing.T, h *runtime.Host, s *session.Session, opts runtime.Options) string {
	t.Helper()
	run(t, s, openWith(t, h, chance(t), opts), true)
	return string(s.Format())
}

// TestTheMomentIsReplayed has a guest tell what it sees of the moment. Without a session's it is another one each time.
func TestTheMomentIsReplayed(t *testing.T) {
	if testing.Short() {
		t.Skip("without a session's moment its guests sleep")
	}
	t.Parallel()
	var first string
	both(t, func(t *testing.T, h *runtime.Host) {
		real := runtime.Options{}
		if a, b := record(t, h, parse(t, chanceSteps), real), record(t, h, parse(t, chanceSteps), real); a == b {
			t.Errorf("nothing in it is of the moment:\n%s", a)
		}
		s := parse(t, chanceSteps)
		moment := runtime.Options{Clock: s.Clock()}
		recorded := record(t, h, s, moment)
		if report := run(t, parse(t, recorded), openWith(t, h, chance(t), moment), false); len(report.Failures) > 0 {
			t.Errorf("got %+v", report)
		}
		if first == "" {
			first = recorded
		}
		if diff := cmp.Diff(first, recorded); diff != "" {
			t.Errorf("where guests run makes a difference; in this process -, elsewhere +:\n%s", diff)
		}
	})
	for _, want := range []string{
		"call 1\nhost 2026-11-22T07:00:00.000002Z\nwall 2026-11-22T07:00:00.000003Z\n", "left 1.999999s, slept 1.50000",
	} {
		if n := strings.Count(first, want); n != 2 {
			t.Errorf("got %d times %q, want it in both steps that tell the time:\n%s", n, want, first)
		}
	}
}

func TestAStepDoesNotDependOnThoseBeforeIt(t *testing.T) {
	if testing.Short() {
		t.Skip("it records and replays each step")
	}
	s := parse(t, chanceSteps)
	h, opts := inProcess(t), runtime.Options{Clock: s.Clock()}
	record(t, h, s, opts)
	s.Steps[0], s.Steps[3] = s.Steps[3], s.Steps[0]
	s.Steps = append(s.Steps, s.Steps[1], s.Steps[0])
	if report := run(t, s, openWith(t, h, chance(t), opts), false); len(report.Failures) > 0 {
		t.Errorf("got %+v", report)
	}
}

func TestAnotherSeedAndAnotherTimeAreAnotherMoment(t *testing.T) {
	answers := func(time, seed string) (clocks, numbers string) {
		text := strings.Replace(chanceSteps, "seed 42", "seed "+seed, 1)
		s := parse(t, strings.Replace(text, "time 2026-11-22T07:00:00Z", "time "+time, 1))
		record(t, inProcess(t), s, runtime.Options{Clock: s.Clock()})
		if s.Steps[2].Want.String() == s.Steps[3].Want.String() {
			t.Error("two requests get the same random numbers")
		}
		return s.Steps[0].Want.String(), s.Steps[2].Want.String()
	}
	clocks, numbers := answers("2026-11-22T07:00:00Z", "42")
	if c, n := answers("2026-11-22T09:00:00+02:00", "42"); c != clocks || n != numbers {
		t.Errorf("the same moment, elsewhere: got\n%s%s, want\n%s%s", c, n, clocks, numbers)
	}
	if c, n := answers("2026-11-22T07:00:01Z", "42"); c == clocks || n != numbers {
		t.Errorf("a second later: got\n%s%s, beside\n%s%s", c, n, clocks, numbers)
	}
	if _, n := answers("2026-11-22T07:00:00Z", "43"); n == numbers {
		t.Errorf("another seed: got\n%s twice", n)
	}
}

// TestAKeptInstanceLivesOn has what a provider keeps last from step to step.
func TestAKeptInstanceLivesOn(t *testing.T) {
	const again = "-- read chance://time/1 --\n-- read chance://time/1 --\n-- read chance://number/1 --\n-- read chance://number/1 --\n"
	var first string
	both(t, func(t *testing.T, h *runtime.Host) {
		for range 2 {
			s := parse(t, again)
			got := record(t, h, s, runtime.Options{Lifecycle: abi.LifecycleShared, Clock: s.Clock()})
			if first == "" {
				first = got
			}
			if diff := cmp.Diff(first, got); diff != "" {
				t.Errorf("the first time -, later +:\n%s", diff)
			}
			if s.Steps[2].Want.String() == s.Steps[3].Want.String() {
				t.Errorf("the same random numbers twice: %s", got)
			}
			for step, want := range []string{"call 1\nhost 2000-01-01T00:00:00.000002Z\n", "call 2\nhost 2000-01-01T00:00:01.5"} {
				if !strings.Contains(s.Steps[step].Want.String(), want) {
					t.Errorf("step %d: got %s, want %q", step, s.Steps[step].Want, want)
				}
			}
		}
	})
}

// TestSleepsTakeNoTimeButEndInTime sleeps for an hour, which takes a test no time.
func TestSleepsTakeNoTimeButEndInTime(t *testing.T) {
	both(t, func(t *testing.T, h *runtime.Host) {
		s := parse(t, "-- read chance://nap/1 --\n-- read chance://nap/3600 --\n")
		record(t, h, s, runtime.Options{Clock: s.Clock()})
		for step, want := range []string{"Slept well.", `"code": "deadline"`} {
			if got := s.Steps[step].Want.String(); !strings.Contains(got, want) {
				t.Errorf("step %d: got %s, want %s", step, got, want)
			}
		}
	})
}
