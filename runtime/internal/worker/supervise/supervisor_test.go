package supervise_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/supervise"
)

func TestAReplacementIsThereBeforeAnybodyAsks(t *testing.T) {
	p := &play{script: []func() (*worker, error){immortal}}
	open(t, config{Start: p.start}, func(t *testing.T, s *supervisor) {
		first := acquired(t, s)
		time.Sleep(time.Hour)
		if len(p.at) != 1 || acquired(t, s) != first {
			t.Fatalf("%d starts, want the first worker to stay", len(p.at))
		}
		first.end()
		synctest.Wait()
		if len(p.at) != 2 || acquired(t, s) == first {
			t.Errorf("%d starts, want a second worker", len(p.at))
		}
		if got := first.closes.Load(); got != 1 {
			t.Errorf("the first was closed %d times, want once", got)
		}
	})
}

func TestAcquireWaitsAsLongAsItsContextAllows(t *testing.T) {
	p := &play{script: []func() (*worker, error){lives(0), lives(0), immortal}}
	open(t, config{Start: p.start}, func(t *testing.T, s *supervisor) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 40*ms)
		defer cancel()
		w, err := s.Acquire(ctx)
		if got := abi.CodeOf(err); w != nil || got != abi.CodeDeadline || time.Since(began) != 40*ms {
			t.Errorf("got %v, %v after %v, want a deadline after 40ms", w, err, time.Since(began))
		}
		acquired(t, s)
		if got := time.Since(began); got != 100*ms {
			t.Errorf("waited %v, want 100ms", got)
		}
		if _, err := s.Acquire(ctx); err != nil {
			t.Errorf("got %v, want the worker that lives, which needs no waiting", err)
		}
	})
}

func TestAcquireOtherGivesTheNext(t *testing.T) {
	p := &play{script: []func() (*worker, error){immortal}}
	open(t, config{Start: p.start}, func(t *testing.T, s *supervisor) {
		old := acquired(t, s)
		time.AfterFunc(second, old.end)
		began := time.Now()
		next, err := s.AcquireOther(t.Context(), old)
		if err != nil || next == old || time.Since(began) != second {
			t.Fatalf("got the old one: %t, %v, after %v, want the next after 1s", next == old, err, time.Since(began))
		}
		again, err := s.AcquireOther(t.Context(), old)
		if err != nil || again != next || time.Since(began) != second {
			t.Errorf("got %p, %v, want %p at once", again, err, next)
		}
	})
}

func TestCloseEndsTheWorker(t *testing.T) {
	gone := errors.New("killed")
	start := func(context.Context) (*worker, error) { w := newWorker(); w.err = gone; return w, nil }
	open(t, config{Start: start}, func(t *testing.T, s *supervisor) {
		w := acquired(t, s)
		var waiting sync.WaitGroup
		waiting.Go(func() {
			if other, err := s.AcquireOther(t.Context(), w); abi.CodeOf(err) != abi.CodeUnavailable {
				t.Errorf("got %v, %v, want a refusal", other, err)
			}
		})
		for range 2 {
			waiting.Go(func() {
				if err := s.Close(); err != gone || !w.ended() {
					t.Errorf("got %v, ended %t, want %v and the worker ended", err, w.ended(), gone)
				}
			})
		}
		waiting.Wait()
		if got := w.closes.Load(); got != 1 {
			t.Errorf("closed %d times, want once", got)
		}
		refused(t, s, "the provider is closing", 0)
		if at := s.State(); at.Phase != supervise.Closed || at.Exits != 0 {
			t.Errorf("got %+v, want closed, with no ends", at)
		}
	})
}

func TestCloseEndsAStart(t *testing.T) {
	n := 0
	start := func(ctx context.Context) (*worker, error) {
		if n++; n == 1 {
			return mortal(second), nil
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	open(t, config{Start: start}, func(t *testing.T, s *supervisor) {
		time.Sleep(2 * second)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if at := s.State(); at.Starts != 2 || at.Exits != 1 {
			t.Errorf("got %+v, want 2 starts and 1 end", at)
		}
	})
}

func TestCloseEndsWhatAStartGivesTooLate(t *testing.T) {
	var late *worker
	n := 0
	start := func(ctx context.Context) (*worker, error) {
		if n++; n == 1 {
			return mortal(second), nil
		}
		<-ctx.Done()
		late = newWorker()
		return late, nil
	}
	open(t, config{Start: start}, func(t *testing.T, s *supervisor) {
		time.Sleep(2 * second)
		s.Close()
		if !late.ended() || late.closes.Load() != 1 {
			t.Errorf("ended %t, closed %d times, want it closed once", late.ended(), late.closes.Load())
		}
		refused(t, s, "the provider is closing", 0)
	})
}

func TestCloseDoesNotWaitForTheNextStart(t *testing.T) {
	p := &play{script: []func() (*worker, error){lives(0)}}
	open(t, config{Start: p.start, MinBackoff: time.Hour, MaxBackoff: time.Hour}, func(t *testing.T, s *supervisor) {
		began := time.Now()
		if err := s.Close(); err != nil || time.Since(began) != 0 || len(p.at) != 2 {
			t.Errorf("got %v after %v and %d starts, want nil at once after 2", err, time.Since(began), len(p.at))
		}
	})
}

func TestNothingComesAfterClose(t *testing.T) {
	start := func(context.Context) (*worker, error) { w := mortal(second); w.slow = second; return w, nil }
	open(t, config{Start: start}, func(t *testing.T, s *supervisor) {
		time.Sleep(second + 1)
		s.Close() // while the worker that has ended is being closed
		refused(t, s, "the provider is closing", 0)
		if at := s.State(); at.Phase != supervise.Closed || at.Starts != 1 {
			t.Errorf("got %+v, want closed after one start", at)
		}
	})
}

func TestAWorkerThatEndsWithItsContextIsNotCounted(t *testing.T) {
	for range 50 { // two things happen at once
		start := func(ctx context.Context) (*worker, error) {
			w := newWorker()
			context.AfterFunc(ctx, w.end)
			return w, nil
		}
		open(t, config{Start: start}, func(t *testing.T, s *supervisor) {
			w := acquired(t, s)
			s.Close()
			if at := s.State(); at.Exits != 0 || w.closes.Load() != 1 {
				t.Errorf("got %+v, closed %d times, want no ends and once", at, w.closes.Load())
			}
		})
	}
}

func TestOpenFailsWithTheFirstStart(t *testing.T) {
	starts := 0
	_, err := supervise.Open(t.Context(), config{Start: func(context.Context) (*worker, error) { starts++; return nil, errStart }})
	if !errors.Is(err, errStart) || starts != 1 {
		t.Errorf("got %v after %d starts, want %v after one", err, starts, errStart)
	}
}

func TestTheContextOfOpenBoundsTheFirstStartOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made *worker
		var during context.Context
		slow := func(ctx context.Context) (*worker, error) {
			during = ctx
			select {
			case <-ctx.Done():
			case <-time.After(second):
			}
			made = newWorker()
			return made, nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), second/2)
		defer cancel()
		if _, err := supervise.Open(ctx, config{Start: slow}); !errors.Is(err, context.DeadlineExceeded) || !made.ended() {
			t.Errorf("got %v, ended %t, want a deadline and no worker left", err, made.ended())
		}
		if _, err := supervise.Open(ctx, config{Start: nil}); err == nil {
			t.Error("got no error without a start function")
		}
		ctx, cancel = context.WithTimeout(t.Context(), 2*second)
		defer cancel()
		s, err := supervise.Open(ctx, config{Start: slow})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * second)
		if during.Err() != nil || acquired(t, s).ended() {
			t.Error("the worker has ended with the context of Open")
		}
		s.Close()
		if during.Err() == nil {
			t.Error("the context of the start has not ended with Close")
		}
	})
}

func TestOpenRefusesSenselessBounds(t *testing.T) {
	start := func(context.Context) (*worker, error) { t.Error("started"); return nil, errStart }
	for name, cfg := range map[string]config{
		"no start":         {},
		"negative first":   {Start: start, MinBackoff: -1},
		"negative most":    {Start: start, MaxBackoff: -1},
		"negative steady":  {Start: start, StableAfter: -1},
		"negative window":  {Start: start, Window: -1},
		"negative deaths":  {Start: start, MaxExits: -1},
		"first above most": {Start: start, MinBackoff: 2, MaxBackoff: 1},
	} {
		if _, err := supervise.Open(t.Context(), cfg); err == nil || !strings.HasPrefix(err.Error(), "supervise: ") {
			t.Errorf("%s: got %v, want an error of supervise", name, err)
		}
	}
}

func TestTheStateSaysWhatIsDone(t *testing.T) {
	p := &play{script: []func() (*worker, error){lives(second), fails, immortal}}
	open(t, config{Start: p.start}, func(t *testing.T, s *supervisor) {
		began := time.Now()
		check := func(what string, want supervise.State) {
			t.Helper()
			if got := s.State(); got != want {
				t.Errorf("%s: got %+v, want %+v", what, got, want)
			}
		}
		check("at first", supervise.State{Phase: supervise.Live, Starts: 1})
		time.Sleep(second + 1)
		check("after two ends", supervise.State{Phase: supervise.Waiting, Until: began.Add(1100 * ms), Starts: 2, Exits: 2, Row: 2, Err: errStart})
		time.Sleep(100 * ms)
		check("alive again", supervise.State{Phase: supervise.Live, Starts: 3, Exits: 2, Row: 2, Err: errStart})
		time.Sleep(30 * second)
		check("steady", supervise.State{Phase: supervise.Live, Starts: 3, Exits: 2, Err: errStart})
		s.Close()
		if got := s.State().Phase.String(); got != "closed" {
			t.Errorf("got %s, want closed", got)
		}
	})
}

func TestEachEndIsLogged(t *testing.T) {
	var lines bytes.Buffer
	p := &play{script: []func() (*worker, error){lives(second), fails, immortal}}
	log := slog.New(slog.NewTextHandler(&lines, nil))
	open(t, config{Start: p.start, Logger: log, MaxExits: 1}, func(t *testing.T, s *supervisor) {
		time.Sleep(2 * second)
		s.Close()
		for _, want := range []string{
			`level=WARN msg="worker ended" uptime=1s in_a_row=1 exits=1 next_start_in=0s refusing=false` + "\n",
			`level=WARN msg="worker not started" uptime=0s in_a_row=2 exits=2 next_start_in=100ms refusing=true err="no such program"` + "\n",
			`level=INFO msg="worker started" starts=3` + "\n",
		} {
			if !strings.Contains(lines.String(), want) {
				t.Errorf("got %swant a line %s", lines.String(), want)
			}
		}
	})
}

func TestAcquireDoesNotAllocate(t *testing.T) {
	p := &play{script: []func() (*worker, error){immortal}}
	open(t, config{Start: p.start}, func(t *testing.T, s *supervisor) {
		ctx := t.Context()
		if got := testing.AllocsPerRun(100, func() { _, _ = s.Acquire(ctx) }); got != 0 {
			t.Errorf("got %v allocations, want none", got)
		}
	})
}

func BenchmarkAcquire(b *testing.B) {
	s, err := supervise.Open(b.Context(), config{Start: func(context.Context) (*worker, error) { return newWorker(), nil }})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	ctx := b.Context()
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = s.Acquire(ctx)
		}
	})
	b.Run("all", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_, _ = s.Acquire(ctx)
			}
		})
	})
}
