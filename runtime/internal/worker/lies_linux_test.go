package worker_test

import (
	"context"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/limits"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
)

// A verdict is what becomes of a call that a liar answers.
type verdict struct {
	code abi.Code
	text string        // of the content, or in the error
	op   abi.Op        // zero for a read
	wait time.Duration // how long the call may last; zero for long
}

// shortLies are tried with -short as well: one for each way in which a worker is found out.
var shortLies = []string{
	"is-silent", "ends-in-a-frame", "garbles-done", "answers-with-999", "is-done-twice", "reads-another's",
	"fails-in-garbage", "never-gets-ready",
}

func verdicts() map[string]verdict {
	lost := verdict{code: abi.CodeUnavailable, text: "the provider's process has ended"}
	good := verdict{text: "fine"}
	late := verdict{code: abi.CodeDeadline, text: "longer than", wait: 500 * time.Millisecond}
	const flood = 2 * time.Second // longer than it takes to exceed a limit; until then both processes are busy
	all := map[string]verdict{
		"is-silent": late, "replies-to-moved": late, "waits-in-a-header": late, "waits-in-a-frame": late, "floods-frames": {code: abi.CodeTooLarge, wait: flood},
		"asks-and-never-reads": late, "hangs-after-a-body": late,
		"drips":             {code: abi.CodeDeadline, text: "longer than", wait: 100 * time.Millisecond}, // too little to be too large by then
		"ends-with-no-text": lost, "answers-with-999": {code: abi.CodeInternal}, "answers-with-20": {code: abi.CodeInternal},
		"answers-with-exit": {code: abi.CodeExit}, "answers-with-nothing": {code: abi.CodeProtocol, text: "without contents"},
		"asks-for-files": {text: "answer denied"}, "asks-for-the-unknown": {text: "answer denied"}, "asks-nonsense": {text: "answer internal"},
		"reads-another's": {code: abi.CodeInvalidURI},
		"floods-bodies":   {code: abi.CodeTooLarge, wait: flood}, "floods-entries": {code: abi.CodeTooMany, op: abi.OpList, wait: flood},
		"floods-logs": good, "floods-reports": good, "floods-notices": good, "notices-what-is-wrong": good,
		"is-done-twice": good, "goes-on-when-done": good, "never-obeys": good, "answers-again": good, "answers-the-next": good,
	}
	for name := range lies() {
		if _, ok := all[name]; !ok {
			all[name] = lost
		}
	}
	return all
}

func TestALiarIsFoundOutAndDoesNoHarm(t *testing.T) {
	leavesNothing(t)
	honest := loadPuppet(t, provider.Config{Runner: newRunner(t, worker.Config{}), Limits: limits.Limits{Timeout: patience}}, well)
	for role, want := range verdicts() {
		t.Run(role, func(t *testing.T) {
			if !slices.Contains(shortLies, role) {
				takesLong(t)
			}
			standbyOf(t)
			before := takeStock(t)
			var log journal
			r := newRunner(t, worker.Config{Executable: roleOf(t, role), Logger: log.logger()})
			limits := limits.Limits{Timeout: patience, Output: 1 << 20, Log: 10_000}
			if want.wait > 0 {
				limits.Timeout = want.wait
			}
			m := loadPuppet(t, provider.Config{Runner: r, Limits: limits, Logger: log.logger()}, well)
			op := want.op
			if op == 0 {
				op = abi.OpRead
			}
			var got sink
			_, err := m.Call(t.Context(), op, &abi.Request{URI: "x:o"}, &got)
			said := string(got.body)
			if err != nil {
				said = err.Error()
			}
			if abi.CodeOf(err) != want.code || !strings.Contains(said, want.text) {
				t.Errorf("got %v %q, want %v %q", abi.CodeOf(err), said, want.code, want.text)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			works(t, honest)
			if n := len(log.String()); n > 40_000 {
				t.Errorf("%d bytes were logged, the last %s", n, log.String()[n-2000:])
			}
			if n := strings.Count(log.String(), "worker killed"); n > 1 {
				t.Errorf("that one worker was killed was logged %d times", n)
			}
			debug.FreeOSMemory()
			eventually(t, func() bool { return len(children(t)) == 2 && takeStock(t).files <= before.files })
			if now := takeStock(t); now.memory > before.memory+64<<10 {
				t.Errorf("got %+v, at the start %+v", now, before)
			}
		})
	}
}

// What a worker says of a call after its end, or before it has got the call, is no answer to another.
func TestAnAnswerBelongsToItsCall(t *testing.T) {
	leavesNothing(t)
	for _, role := range []string{"answers-again", "answers-the-next"} {
		t.Run(role, func(t *testing.T) {
			r := newRunner(t, worker.Config{Executable: roleOf(t, role)})
			m := loadPuppet(t, provider.Config{Runner: r, Limits: limits.Limits{Timeout: patience}}, well)
			works(t, m)
			works(t, m) // in the next worker, since the first is ended
		})
	}
}

// A worker that never reads its control connection delays no call for longer than a call lasts.
func TestAWorkerThatNeverReadsControlDelaysNoCall(t *testing.T) {
	takesLong(t)
	leavesNothing(t)
	r := newRunner(t, worker.Config{Executable: roleOf(t, "never-obeys")})
	m := loadPuppet(t, provider.Config{Runner: r, Limits: limits.Limits{Timeout: time.Second}}, well)
	for range 1000 {
		m.EndSession(strings.Repeat("s", 200))
	}
	ended := time.AfterFunc(patience, func() { panic("a call does not end") })
	defer ended.Stop()
	for range 3 {
		_, _ = read(t.Context(), m, "x:o")
	}
}

// Workers that hang, or go on for ever, while their call has more time than at the start, since a client keeps it waiting.
func TestAWorkerWithASlowClientDelaysNoCall(t *testing.T) {
	takesLong(t)
	for _, role := range []string{"hangs-after-a-body", "drips"} {
		t.Run(role, func(t *testing.T) {
			leavesNothing(t)
			r := newRunner(t, worker.Config{Executable: roleOf(t, role)})
			m := loadPuppet(t, provider.Config{
				Runner: r, Limits: limits.Limits{Timeout: 100 * time.Millisecond, Wait: 500 * time.Millisecond},
			}, well)
			ended := time.AfterFunc(patience, func() { panic("the call does not end") })
			defer ended.Stop()
			_, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:o"}, &unhurried{})
			if abi.CodeOf(err) != abi.CodeDeadline {
				t.Errorf("got %v, want deadline", err)
			}
		})
	}
}

// unhurried takes its time with each piece, beyond that of a call.
type unhurried struct {
	sink
	waited atomic.Int64
}

func (s *unhurried) Body(p []byte) error {
	began := time.Now()
	<-time.After(300 * time.Millisecond)
	s.waited.Add(int64(time.Since(began))) // a busy machine takes longer
	return s.sink.Body(p)
}

// Blocked implements [guest.BlockingSink].
func (s *unhurried) Blocked() time.Duration { return time.Duration(s.waited.Load()) }

// Calls that are too long for a link's socket together, to a worker that reads none of them.
func TestAWorkerThatReadsNoCallsDelaysNoCall(t *testing.T) {
	takesLong(t)
	leavesNothing(t)
	r := newRunner(t, worker.Config{Executable: roleOf(t, "answers-unread")})
	m := loadPuppet(t, provider.Config{Runner: r, Limits: limits.Limits{Timeout: time.Second}}, well)
	var last error
	ended := time.AfterFunc(patience, func() { panic("a call does not end") })
	defer ended.Stop()
	for range 10 {
		if _, last = m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:o", Value: strings.Repeat("v", 60_000)}, &sink{}); last != nil {
			break
		}
	}
	if code := abi.CodeOf(last); code != abi.CodeDeadline && code != abi.CodeUnavailable {
		t.Errorf("got %v, want deadline, or unavailable since it answers ahead", last)
	}
}

func TestAWorkerThatLiesFromTheBeginningIsRefused(t *testing.T) {
	leavesNothing(t)
	honest := loadPuppet(t, provider.Config{Runner: newRunner(t, worker.Config{}), Limits: limits.Limits{Timeout: patience}}, well)
	for role, want := range map[string]string{
		"begins-with-its-end":        "so it goes",
		"ends-on-start-request":      "so it goes",
		"never-begins":               "deadline",
		"never-gets-ready":           "deadline",
		"gets-half-ready":            "deadline",
		"is-ready-for-nonsense":      "ready message",
		"is-ready-for-no-reset-mode": `unknown reset mode "left"`,
		"is-ready-without-json":      "ready message",
		"fails-with-success":         "failed without an error",
		"fails-with-999":             "unknown code 999",
		"fails-with-words":           `\x1b[2Jforged line`,
		"fails-in-garbage":           "done message: truncated",
		"is-done-before-it-begins":   "unexpected done message",
		"chunks-before-it-begins":    "chunk at 7",
		"manifests-without-end":      "deadline",
		"logs-without-end":           "deadline",
	} {
		t.Run(role, func(t *testing.T) {
			if !slices.Contains(shortLies, role) {
				takesLong(t)
			}
			standbyOf(t)
			before := takeStock(t)
			var log journal
			ctx, cancel := context.WithCancel(t.Context())
			if want == "deadline" {
				ctx, cancel = context.WithTimeout(t.Context(), time.Second)
			}
			defer cancel()
			p := puppet()
			_, err := provider.Open(ctx, provider.Config{
				// A cache of its own: what a worker dies of before it is ready may be the compiled module, which is forgotten.
				Runner: newRunnerIn(t, t.TempDir(), worker.Config{Executable: roleOf(t, role), Logger: log.logger()}), Services: p.Services(), Logger: log.logger(),
			}, p.Binary(t))
			if err == nil || !strings.Contains(err.Error(), want) && !strings.Contains(log.String(), want) {
				t.Errorf("got %v, want %s\n%s", err, want, log.String())
			}
			works(t, honest)
			if n := len(log.String()); n > 80_000 {
				t.Errorf("%d bytes were logged", n)
			}
			eventually(t, func() bool { return len(children(t)) == 2 && takeStock(t).files <= before.files })
		})
	}
}

func TestWhatAWorkerSaysOfItselfIsBounded(t *testing.T) {
	leavesNothing(t)
	r := newRunner(t, worker.Config{Executable: roleOf(t, "boasts")})
	m := loadPuppet(t, provider.Config{Runner: r}, well)
	works(t, m)
	if n := len(r.Isolation().Layers.String()); n > 20_000 {
		t.Errorf("its layers have %d bytes", n)
	}
	if info := m.Info(); info.Reset != guest.ResetInPlace || len(info.Why) > 1000 {
		t.Errorf("got mode %s, because of %d bytes", info.Reset, len(info.Why))
	}
}

// The first description that a provider gives of itself stands: the next worker may give it in another order.
func TestAWorkerThatIsAnotherAfterARestartIsTakenForTheFirst(t *testing.T) {
	leavesNothing(t)
	var log journal
	r := newRunner(t, worker.Config{Executable: roleOf(t, "is-another-each-time"), Logger: log.logger()})
	m := load(t, provider.Config{Runner: r, Limits: limits.Limits{Timeout: patience}}, wat(t, "faults.wasm"))
	works(t, m)
	name := m.Manifest().Name
	signal(t, unix.SIGKILL)
	works(t, m)
	if got := m.Manifest().Name; got != name {
		t.Errorf("got %q, want the first one, %q", got, name)
	}
}

// The parent discards what a worker sends for a call that has moved to another link.
func TestRepliesToMovedCallsAreDiscarded(t *testing.T) {
	leavesNothing(t)
	var log journal
	r := newRunner(t, worker.Config{Executable: roleOf(t, "replies-to-moved"), PipelineUnder: time.Hour, Logger: log.debug()})
	m := loadPuppet(t, provider.Config{Runner: r, Limits: limits.Limits{Timeout: patience}, Logger: log.debug()}, well)
	var first sync.WaitGroup
	first.Go(func() { works(t, m) })
	eventually(t, func() bool { return strings.Contains(log.String(), hasCall) }) // now the first call shares its link
	works(t, m)
	first.Wait()
	for range 3 {
		works(t, m)
	}
	if n := strings.Count(log.String(), moved); n != 1 {
		t.Errorf("calls moved %d times, want once\n%s", n, log.String())
	}
}
