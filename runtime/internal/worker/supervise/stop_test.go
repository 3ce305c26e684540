package supervise_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/supervise"
)

// after is an Idle that never changes.
func after(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

// use acquires a worker and releases it.
func use(t *testing.T, s *supervisor) *worker {
	t.Helper()
	w := acquired(t, s)
	s.Release()
	return w
}

func TestAnUnusedWorkerIsStoppedAndTheNextCallerStartsOne(t *testing.T) {
	p := &play{script: []func() (*worker, error){immortal}}
	open(t, config{Start: p.start, Idle: after(second)}, func(t *testing.T, s *supervisor) {
		time.Sleep(second / 2)
		first := use(t, s)
		time.Sleep(second - 1)
		if first.ended() {
			t.Fatal("stopped too early")
		}
		time.Sleep(1 * time.Nanosecond)
		synctest.Wait()
		want := supervise.State{Phase: supervise.Stopped, Starts: 1, Stops: 1}
		if at := s.State(); !first.ended() || at != want {
			t.Fatalf("ended %t, got %+v, want %+v", first.ended(), at, want)
		}
		time.Sleep(time.Hour)
		if len(p.at) != 1 {
			t.Fatalf("%d starts without a caller, want 1", len(p.at))
		}
		if second := use(t, s); second == first || len(p.at) != 2 {
			t.Errorf("the same worker: %t, %d starts, want the second", second == first, len(p.at))
		}
		if at := s.State(); at.Phase != supervise.Live || at.Exits != 0 {
			t.Errorf("got %+v, want live without exits", at)
		}
	})
}

func TestOpenStoppedLeavesTheFirstStartToACaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &play{script: []func() (*worker, error){immortal}}
		s, err := supervise.OpenStopped(t.Context(), config{Start: p.start})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if at := s.State(); at != (supervise.State{Phase: supervise.Stopped}) {
			t.Errorf("got %+v, want stopped and nothing else", at)
		}
		use(t, s).end()
		synctest.Wait()
		if at := s.State(); at.Phase != supervise.Live || at.Starts != 2 || at.Exits != 1 {
			t.Errorf("got %+v, want the second worker: without Idle it starts in advance", at)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := supervise.OpenStopped(t.Context(), config{}); err == nil {
			t.Error("got no error without a start function")
		}
	})
}

func TestAWorkerInUseIsNotStopped(t *testing.T) {
	open(t, config{Start: (&play{script: []func() (*worker, error){immortal}}).start, Idle: after(second)}, func(t *testing.T, s *supervisor) {
		w := acquired(t, s)
		time.Sleep(time.Hour)
		if s.Stop(0) || w.ended() {
			t.Error("stopped a worker in use")
		}
		if _, ok := s.Unused(); ok {
			t.Error("the worker counts as unused")
		}
		s.Release()
		time.Sleep(second / 2)
		if s.Stop(second) {
			t.Error("stopped a worker that was used half a second ago, want a second")
		}
		if idle, ok := s.Unused(); idle != second/2 || !ok {
			t.Errorf("got %v, %t, want %v", idle, ok, second/2)
		}
		if !s.Stop(second / 2) {
			t.Error("not stopped")
		}
		if s.Stop(0) {
			t.Error("stopped twice")
		}
		if _, ok := s.Current(); ok {
			t.Error("got a worker that was stopped")
		}
	})
}

func TestUnusedIsToldOfEachWorkerWithoutCallers(t *testing.T) {
	slow := func() (*worker, error) { time.Sleep(second); return newWorker(), nil }
	p := &play{script: []func() (*worker, error){immortal, slow}}
	var told atomic.Int32
	open(t, config{Start: p.start, Idle: after(time.Hour), Unused: func() { told.Add(1) }}, func(t *testing.T, s *supervisor) {
		acquired(t, s)
		use(t, s)
		if got := told.Load(); got != 0 {
			t.Errorf("told %d times although a caller has the worker, want never", got)
		}
		s.Release()
		if got := told.Load(); got != 1 {
			t.Errorf("told %d times, want once", got)
		}
		s.Stop(0)
		ctx, cancel := context.WithTimeout(t.Context(), second/2)
		defer cancel()
		if _, err := s.Acquire(ctx); abi.CodeOf(err) != abi.CodeDeadline {
			t.Errorf("got %v, want a deadline", err)
		}
		told.Store(0)
		time.Sleep(second)
		synctest.Wait()
		if _, ok := s.Unused(); told.Load() != 1 || !ok {
			t.Errorf("told %d times, unused %t, want once, of a worker that came too late", told.Load(), ok)
		}
	})
}

func TestACallerNeedNotWaitForTheEndOfAStop(t *testing.T) {
	start := func(context.Context) (*worker, error) { w := newWorker(); w.slow = time.Hour; return w, nil }
	open(t, config{Start: start, Idle: after(second)}, func(t *testing.T, s *supervisor) {
		old := acquired(t, s)
		s.Release()
		s.Stop(0)
		began := time.Now()
		if w := use(t, s); w == old || time.Since(began) != 0 {
			t.Errorf("got the old one: %t, after %v, want another at once", w == old, time.Since(began))
		}
	})
}

func TestManyCallersShareOneStart(t *testing.T) {
	p := &play{script: []func() (*worker, error){immortal, func() (*worker, error) { time.Sleep(second); return newWorker(), nil }}}
	open(t, config{Start: p.start, Idle: after(time.Minute)}, func(t *testing.T, s *supervisor) {
		s.Stop(0)
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() { use(t, s) })
		}
		callers.Wait()
		if at := s.State(); at.Starts != 2 || len(p.at) != 2 {
			t.Errorf("got %+v, want 2 starts", at)
		}
	})
}

func TestWithIdleAWorkerThatEndsIsReplacedForCallersOnly(t *testing.T) {
	p := &play{script: []func() (*worker, error){lives(second), lives(second), immortal}}
	open(t, config{Start: p.start, Idle: after(time.Hour)}, func(t *testing.T, s *supervisor) {
		time.Sleep(time.Minute)
		if at := s.State(); at.Phase != supervise.Stopped || at.Exits != 1 || len(p.at) != 1 {
			t.Fatalf("got %+v after %d starts, want stopped after one", at, len(p.at))
		}
		old := acquired(t, s)
		next, err := s.AcquireOther(t.Context(), old)
		if err != nil || next == old || len(p.at) != 3 {
			t.Errorf("got %v, %v after %d starts, want the third worker", next, err, len(p.at))
		}
		s.Release()
	})
}

// TestTheBreakerStaysOpenWhileStopped has a provider that keeps crashing and is called now and then.
func TestTheBreakerStaysOpenWhileStopped(t *testing.T) {
	p := &play{script: []func() (*worker, error){lives(0), fails, fails, immortal}}
	open(t, config{Start: p.start, Idle: after(time.Hour), MaxExits: 1}, func(t *testing.T, s *supervisor) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for n := 1; n <= 2; n++ {
			if w, err := s.Acquire(ctx); abi.CodeOf(err) != abi.CodeUnavailable || len(p.at) != n+1 {
				t.Fatalf("got %v, %v after %d starts, want a refusal after %d", w, err, len(p.at), n+1)
			}
			if _, err := s.Acquire(ctx); abi.CodeOf(err) != abi.CodeUnavailable || len(p.at) != n+1 {
				t.Fatalf("got %v after %d starts, want a refusal without a start", err, len(p.at))
			}
			time.Sleep(20 * second)
		}
		use(t, s) // a start that works
		if at := s.State(); at.Starts != 4 || at.Exits != 3 {
			t.Errorf("got %+v, want 4 starts and 3 exits", at)
		}
	})
}

func TestAStopAfterALongLifeForgetsExits(t *testing.T) {
	p := &play{script: []func() (*worker, error){lives(0), immortal}}
	open(t, config{Start: p.start, Idle: after(time.Minute), StableAfter: second}, func(t *testing.T, s *supervisor) {
		use(t, s)
		time.Sleep(2 * time.Minute)
		if at := s.State(); at.Row != 0 || at.Stops != 1 || at.Exits != 1 {
			t.Errorf("got %+v, want a stop, and the exit forgotten", at)
		}
	})
}

var errCrowded = abi.Busy(second, "too many")

// A gate lets the first start through, and each further one when it is told to.
type gate struct{ open chan struct{} }

func (g *gate) prepare(ctx context.Context) error {
	if g.open == nil {
		g.open = make(chan struct{}, 1) // in the bubble of the test
		return nil
	}
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestACallerInTheQueueIsToldSo(t *testing.T) {
	g, p := &gate{}, &play{script: []func() (*worker, error){immortal}}
	cfg := config{Start: p.start, Prepare: g.prepare, Queued: func() error { return errCrowded }, Idle: after(second)}
	open(t, cfg, func(t *testing.T, s *supervisor) {
		s.Stop(0)
		ctx, cancel := context.WithTimeout(t.Context(), second)
		defer cancel()
		if _, err := s.Acquire(ctx); err != errCrowded {
			t.Errorf("got %v, want %v", err, errCrowded)
		}
		synctest.Wait()
		if at := s.State(); at.Phase != supervise.Stopped || at.Starts != 1 || at.Exits != 0 {
			t.Errorf("got %+v, want stopped: no caller waits", at)
		}
		g.open <- struct{}{}
		use(t, s)
		if len(p.at) != 2 {
			t.Errorf("%d starts, want 2", len(p.at))
		}
	})
}

func TestAStartInTheQueueIsForAllWhoWait(t *testing.T) {
	g, p := &gate{}, &play{script: []func() (*worker, error){immortal}}
	open(t, config{Start: p.start, Prepare: g.prepare, Idle: after(time.Hour)}, func(t *testing.T, s *supervisor) {
		s.Stop(0)
		var callers sync.WaitGroup
		callers.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), second)
			defer cancel()
			if _, err := s.Acquire(ctx); abi.CodeOf(err) != abi.CodeDeadline {
				t.Errorf("got %v, want a deadline", err)
			}
		})
		callers.Go(func() { use(t, s) })
		time.Sleep(2 * second)
		if at := s.State(); at.Phase != supervise.Queued {
			t.Errorf("got %+v, want queued: a caller waits still", at)
		}
		g.open <- struct{}{}
		callers.Wait()
	})
}

func TestAPreparationThatFailsIsAnExit(t *testing.T) {
	n := 0
	prepare := func(context.Context) error {
		if n++; n == 2 {
			return errStart
		}
		return nil
	}
	var log bytes.Buffer
	cfg := config{Start: (&play{script: []func() (*worker, error){immortal}}).start, Prepare: prepare, Idle: after(second)}
	cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	open(t, cfg, func(t *testing.T, s *supervisor) {
		s.Stop(0)
		use(t, s)
		if at := s.State(); at.Exits != 1 || at.Err != errStart || at.Starts != 2 {
			t.Errorf("got %+v, want an exit by %v", at, errStart)
		}
		s.Stop(0)
		synctest.Wait()
		if text := log.String(); strings.Contains(text, "stopped") || strings.Count(text, "\n") != 1 {
			t.Errorf("got %s, want the exit only", text)
		}
	})
}

func TestOpenFailsWithItsPreparation(t *testing.T) {
	_, err := supervise.Open(t.Context(), config{
		Start:   func(context.Context) (*worker, error) { t.Error("started"); return nil, nil },
		Prepare: func(context.Context) error { return errStart },
	})
	if !errors.Is(err, errStart) {
		t.Errorf("got %v, want %v", err, errStart)
	}
}

func TestCloseEndsWhatIsStoppedOrQueued(t *testing.T) {
	g := &gate{}
	cfg := config{Start: (&play{script: []func() (*worker, error){immortal}}).start, Prepare: g.prepare, Idle: after(second)}
	open(t, cfg, func(t *testing.T, s *supervisor) {
		s.Stop(0)
		var caller sync.WaitGroup
		caller.Go(func() {
			if _, err := s.Acquire(t.Context()); abi.CodeOf(err) != abi.CodeUnavailable {
				t.Errorf("got %v, want a refusal", err)
			}
		})
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		caller.Wait()
		refused(t, s, "the provider is closing", 0)
	})
	open(t, config{Start: cfg.Start, Idle: after(second)}, func(t *testing.T, s *supervisor) {
		s.Stop(0)
		if err := s.Close(); err != nil || s.State().Phase != supervise.Closed {
			t.Errorf("got %v, %+v, want closed", err, s.State())
		}
	})
}

// TestStopsAndCallersAtOnce has goroutines that use workers while others stop them. No caller may fail or get a worker
// that was stopped.
func TestStopsAndCallersAtOnce(t *testing.T) {
	s, err := supervise.Open(t.Context(), config{Start: func(context.Context) (*worker, error) { return newWorker(), nil }, Idle: after(1)})
	if err != nil {
		t.Fatal(err)
	}
	var callers, stoppers sync.WaitGroup
	over := make(chan struct{})
	for range 2 {
		stoppers.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					s.Stop(0)
				}
			}
		})
	}
	for range 4 {
		callers.Go(func() {
			for n := 0; n < 2000 || n < 1e7 && s.State().Stops == 0; n++ { // on a busy machine the stoppers may begin late
				w, err := s.Acquire(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				if w.ended() {
					t.Error("got a worker that was stopped")
				}
				s.Release()
			}
		})
	}
	callers.Wait()
	close(over)
	stoppers.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if at := s.State(); at.Exits != 0 || at.Stops == 0 || at.Starts-at.Stops > 1 {
		t.Errorf("got %+v, want stops and no exits", at)
	}
}
