package supervise_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/supervise"
)

// crowd starts workers and looks that there is never more than one.
type crowd struct {
	t   *testing.T
	mu  sync.Mutex
	all []*worker
	n   atomic.Int32
}

func (c *crowd) start(context.Context) (*worker, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.all) > 0 && !c.all[len(c.all)-1].ended() {
		c.t.Error("started while another lives")
	}
	if c.n.Add(1)%5 == 0 {
		return nil, errStart
	}
	w := newWorker()
	c.all = append(c.all, w)
	return w, nil
}

// use acquires workers, and ends some, until it is refused.
func (c *crowd) use(s *supervisor) {
	ctx := c.t.Context()
	for i := 0; ; i++ {
		w, err := s.Acquire(ctx)
		if err == nil && w.ended() {
			old := w
			if w, err = s.AcquireOther(ctx, old); err == nil && w == old {
				c.t.Error("got the old worker again")
			}
		}
		if err != nil {
			if abi.CodeOf(err) != abi.CodeUnavailable {
				c.t.Error(err)
			}
			return
		}
		if s.State(); i%3 == 0 {
			w.end()
		}
		s.Release()
	}
}

func TestManyCallersAndManyEnds(t *testing.T) {
	c := &crowd{t: t}
	cfg := config{Start: c.start, MinBackoff: 1, MaxBackoff: 1, MaxExits: 1 << 30}
	s, err := supervise.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() { c.use(s) })
	}
	for s.State().Exits < 500 {
		w, err := s.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = s.AcquireOther(t.Context(), w) // until another goroutine ends it
	}
	for range 2 {
		callers.Go(func() { _ = s.Close() })
	}
	callers.Wait()
	for i, w := range c.all {
		if !w.ended() || w.closes.Load() != 1 {
			t.Errorf("worker %d: ended %t, closed %d times, want it closed once", i, w.ended(), w.closes.Load())
		}
	}
	if at := s.State(); at.Starts != uint64(c.n.Load()) || at.Starts-at.Exits > 1 {
		t.Errorf("got %+v, want %d starts, all but one ended", at, c.n.Load())
	}
}
