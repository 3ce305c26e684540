package supervise_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/supervise"
)

const (
	ms     = time.Millisecond
	second = time.Second
)

func TestStartsAreSlowerEachTime(t *testing.T) {
	type script = []func() (*worker, error)
	for name, c := range map[string]struct {
		cfg    config
		script script
		want   []time.Duration
	}{
		"the first replacement at once": {config{}, script{lives(second), immortal}, []time.Duration{0, second}},
		"then doubling": {config{}, script{lives(second)},
			[]time.Duration{0, second, 2100 * ms, 3300 * ms, 4700 * ms, 6500 * ms}},
		"up to most": {config{MinBackoff: second, MaxBackoff: 3 * second}, script{lives(0)},
			[]time.Duration{0, 0, 1 * second, 3 * second, 6 * second, 9 * second, 12 * second}},
		"most below the usual first": {config{MaxBackoff: 10 * ms}, script{lives(0)},
			[]time.Duration{0, 0, 10 * ms, 20 * ms, 30 * ms}},
		"first above the usual most": {config{MinBackoff: 20 * second}, script{lives(0)},
			[]time.Duration{0, 0, 20 * second, 40 * second}},
		"shortened at random, to half": {config{Random: func() float64 { return 1 }}, script{lives(0)},
			[]time.Duration{0, 0, 50 * ms, 150 * ms, 350 * ms}},
		"a start that fails is an end": {config{}, script{lives(second), fails, fails, immortal},
			[]time.Duration{0, second, 1100 * ms, 1300 * ms}},
		"a steady life is a new beginning": {config{StableAfter: 5 * second},
			script{lives(0), lives(0), lives(0), lives(5 * second), lives(0), immortal},
			[]time.Duration{0, 0, 100 * ms, 300 * ms, 5300 * ms, 5400 * ms}},
		"a life almost steady is not": {config{StableAfter: 5 * second},
			script{lives(0), lives(0), lives(0), lives(5*second - 1), immortal},
			[]time.Duration{0, 0, 100 * ms, 300 * ms, 5700*ms - 1}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &play{script: c.script}
			c.cfg.Start = p.start
			open(t, c.cfg, func(t *testing.T, s *supervisor) {
				time.Sleep(c.want[len(c.want)-1] + 1)
				s.Close()
				if !slices.Equal(p.at, c.want) {
					t.Errorf("started at %v, want %v", p.at, c.want)
				}
			})
		})
	}
}

func TestTheBreakerRefusesAtOnce(t *testing.T) {
	p := &play{script: []func() (*worker, error){lives(second), fails}}
	open(t, config{Start: p.start, MaxExits: 2, Window: 10 * second}, func(t *testing.T, s *supervisor) {
		time.Sleep(second + 50*ms) // two ends: this call waits, and the third end, which opens the breaker, ends that
		_, err := s.Acquire(t.Context())
		if got := abi.CodeOf(err); got != abi.CodeUnavailable || len(p.at) != 3 {
			t.Fatalf("got %v after %d starts, want unavailable after 3", err, len(p.at))
		}
		e := refused(t, s, "the provider keeps crashing", 200*ms)
		if e.Cause != errStart {
			t.Errorf("cause: got %v, want %v", e.Cause, errStart)
		}
		time.Sleep(199*ms + ms/2)
		refused(t, s, "the provider keeps crashing", ms) // rounded up
		time.Sleep(ms)
		refused(t, s, "the provider keeps crashing", 400*ms)
	})
}

func TestEndsOutsideTheWindowDoNotOpenTheBreaker(t *testing.T) {
	for _, c := range []struct {
		life time.Duration
		want bool
	}{{5 * second, true}, {5*second + 1, false}} {
		p := &play{script: []func() (*worker, error){lives(c.life)}}
		cfg := config{Start: p.start, MinBackoff: 1, MaxBackoff: 1, MaxExits: 2, Window: 10*second + 1}
		open(t, cfg, func(t *testing.T, s *supervisor) {
			time.Sleep(20 * c.life)
			if got := s.State().Open; got != c.want {
				t.Errorf("a life of %v: the breaker is open %t, want %t", c.life, got, c.want)
			}
		})
	}
}

func TestASteadyLifeForgetsTheWindowToo(t *testing.T) {
	p := &play{script: []func() (*worker, error){lives(second)}}
	open(t, config{Start: p.start, MaxExits: 1, StableAfter: second, Window: time.Hour}, func(t *testing.T, s *supervisor) {
		time.Sleep(20*second + 1)
		if at := s.State(); at.Open || len(p.at) != 21 {
			t.Errorf("got %+v, want 21 starts and a closed breaker", at)
		}
	})
}

// trial returns a supervisor whose breaker has opened after two ends and whose next start, in 100 ms, takes 10 ms.
func trial(t *testing.T, life time.Duration, test func(t *testing.T, s *supervisor)) {
	p := &play{script: []func() (*worker, error){lives(0), lives(0), func() (*worker, error) {
		time.Sleep(10 * ms)
		return mortal(life), nil
	}}}
	open(t, config{Start: p.start, MaxExits: 1, StableAfter: second}, func(t *testing.T, s *supervisor) {
		refused(t, s, "the provider keeps crashing", 100*ms)
		time.Sleep(100*ms + 1)
		test(t, s)
	})
}

func TestWhileTheTrialStartsCallersAreRefused(t *testing.T) {
	trial(t, second, func(t *testing.T, s *supervisor) {
		if got := s.State().Phase; got != supervise.Starting {
			t.Fatalf("got %v, want starting", got)
		}
		refused(t, s, "the provider keeps crashing", 100*ms)
	})
}

func TestATrialThatDiesOpensTheBreakerForLonger(t *testing.T) {
	trial(t, second-1, func(t *testing.T, s *supervisor) {
		time.Sleep(10 * ms)
		if w := acquired(t, s); w.ended() || !s.State().Open {
			t.Errorf("got a worker that has ended, or a closed breaker, want neither yet")
		}
		time.Sleep(second - 1)
		refused(t, s, "the provider keeps crashing", 200*ms)
	})
}

func TestWhileATrialLivesTheOtherIsWaitedFor(t *testing.T) {
	trial(t, 500*ms, func(t *testing.T, s *supervisor) {
		time.Sleep(10 * ms)
		began := time.Now()
		_, err := s.AcquireOther(t.Context(), acquired(t, s))
		if got := time.Since(began); abi.CodeOf(err) != abi.CodeUnavailable || got != 500*ms-1 {
			t.Errorf("got %v after %v, want a refusal when the trial has ended", err, got)
		}
	})
}

func TestATrialThatLivesClosesTheBreaker(t *testing.T) {
	trial(t, second, func(t *testing.T, s *supervisor) {
		time.Sleep(10 * ms)
		w := acquired(t, s)
		time.Sleep(second)
		if at := s.State(); at.Open || at.Row != 1 || at.Phase != supervise.Starting {
			t.Errorf("got %+v, want the next starting with one end remembered", at)
		}
		if next := acquired(t, s); next == w { // waits for the 10 ms of the start
			t.Error("got the worker that has ended")
		}
	})
}
