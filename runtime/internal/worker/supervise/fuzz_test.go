package supervise_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/supervise"
)

// A fate is what becomes of one worker, and what follows.
type fate struct {
	takes  time.Duration // its start
	fails  bool
	life   time.Duration
	random float64
}

func fateOf(b byte) fate {
	lives := []time.Duration{0, 1, 20 * ms, second - 1, second, 3 * second}
	takes := []time.Duration{0, 30 * ms, 2 * second}
	return fate{
		takes:  takes[b>>3%3],
		fails:  b&7 == 7,
		life:   lives[int(b&7)%len(lives)],
		random: float64(b>>5) / 7,
	}
}

// death is the end of one worker.
type death struct {
	at    time.Duration
	lived time.Duration
}

// expect says, the slow way, what follows from all the deaths there were: how long to wait before the next start, and
// whether the breaker is open.
func expect(cfg config, all []death, random float64) (wait time.Duration, open bool) {
	for i := len(all) - 1; i > 0; i-- {
		if all[i].lived >= cfg.StableAfter {
			all = all[i:]
			break
		}
	}
	for i, last := range all {
		within := 0
		for _, d := range all[:i+1] {
			if last.at-d.at <= cfg.Window {
				within++
			}
		}
		open = open || within > cfg.MaxExits
	}
	if len(all) == 1 {
		return 0, open
	}
	wait = min(cfg.MinBackoff<<(len(all)-2), cfg.MaxBackoff)
	return wait - time.Duration(random*float64(wait/2)), open
}

// drill runs a supervisor through fates and compares each start with what is expected.
type drill struct {
	t      *testing.T
	cfg    config
	fates  []fate
	s      *supervisor
	opened chan struct{} // closed when s is set
	n      int
	begun  time.Time
	deaths []death
	due    time.Duration
	over   chan struct{}
}

func (d *drill) start(ctx context.Context) (*worker, error) {
	if d.n == len(d.fates) {
		close(d.over)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	f := d.fates[d.n]
	d.check()
	d.n++
	time.Sleep(f.takes)
	if f.fails && d.n > 1 {
		d.die(f, 0)
		return nil, errStart
	}
	d.die(f, f.life)
	return mortal(f.life), nil
}

// die foresees a death.
func (d *drill) die(f fate, lived time.Duration) {
	at := time.Since(d.begun) + lived
	d.deaths = append(d.deaths, death{at: at, lived: lived})
	wait, _ := expect(d.cfg, d.deaths, f.random)
	d.due = at + wait
}

func (d *drill) check() {
	if got := time.Since(d.begun); got != d.due {
		d.t.Errorf("start %d: at %v, want %v", d.n, got, d.due)
	}
	if d.n == 0 {
		return
	}
	<-d.opened
	_, open := expect(d.cfg, d.deaths, 0)
	ended, cancel := context.WithCancel(d.t.Context())
	cancel()
	want := abi.CodeCancelled
	if open {
		want = abi.CodeUnavailable
	}
	if _, err := d.s.Acquire(ended); abi.CodeOf(err) != want {
		d.t.Errorf("start %d: acquire: got %v, want %v", d.n, err, want)
	}
	at := d.s.State()
	if at.Open != open || at.Starts != uint64(d.n+1) || at.Exits != uint64(d.n) || at.Phase != supervise.Starting {
		d.t.Errorf("start %d: got %+v, want open %t", d.n, at, open)
	}
}

func FuzzStartsFollowTheRecord(f *testing.F) {
	f.Add(byte(1), byte(0), []byte{0, 0, 0, 0})
	f.Add(byte(2), byte(1), []byte{0, 7, 7, 4, 3, 0x20, 0xe7, 5, 1, 1})
	f.Add(byte(0), byte(2), []byte{0, 1, 2, 3, 4, 5, 6, 7, 0x10, 0x11, 0x12, 0x13, 0x15, 0x17, 0x1f, 0xff})
	f.Add(byte(3), byte(0), slices.Repeat([]byte{0xe7}, 32))
	f.Fuzz(func(t *testing.T, deaths, window byte, script []byte) {
		if len(script) == 0 {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			cfg := config{MinBackoff: 10 * ms, MaxBackoff: second / 2, StableAfter: second, MaxExits: int(deaths%4) + 1}
			cfg.Window = []time.Duration{1, 35 * ms, second, 10 * second}[window%4]
			run(t, cfg, script[:min(len(script), 40)])
		})
	})
}

func run(t *testing.T, cfg config, script []byte) {
	d := &drill{t: t, cfg: cfg, begun: time.Now(), opened: make(chan struct{}), over: make(chan struct{})}
	for _, b := range script {
		d.fates = append(d.fates, fateOf(b))
	}
	ends := 0
	cfg.Random = func() float64 { ends++; return d.fates[ends-1].random }
	cfg.Start = d.start
	s, err := supervise.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	d.s = s
	close(d.opened)
	<-d.over
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
