package supervise

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// A Supervisor keeps one worker alive. It is safe for concurrent use. It must be closed.
type Supervisor[W Worker] struct {
	// Fixed at creation.
	cfg    Config[W]
	cancel context.CancelFunc
	gone   chan struct{} // closed when nothing of it runs any more

	live atomic.Pointer[W] // nil when there is none; a worker is stored under mu, and not after Close

	mu       sync.Mutex // guards the fields below
	state    State      // without Open and Row, which the record has
	record   record
	born     time.Time     // when the worker that lives, or was the last to live, had started
	changed  chan struct{} // closed, and made anew, when those who wait should look again
	closeErr error
}

// Open starts the first worker and keeps it, or the next, alive until Close. When the first start fails, that is the
// error. The end of ctx ends the first start, and nothing after it.
func Open[W Worker](ctx context.Context, cfg Config[W]) (*Supervisor[W], error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("supervise: %w", err)
	}
	keeping, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w, err := first(ctx, keeping, cancel, cfg.Start)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("start worker: %w", err)
	}
	s := &Supervisor[W]{
		cfg: cfg, cancel: cancel, gone: make(chan struct{}), changed: make(chan struct{}),
		state: State{Starts: 1},
		record: record{
			first: cfg.First, most: cfg.Most, steady: cfg.Steady,
			deaths: cfg.Deaths, window: cfg.Window,
		},
	}
	s.enter(w)
	go s.run(keeping, w)
	return s, nil
}

// first starts a worker that may live longer than ctx.
func first[W Worker](ctx, keeping context.Context, cancel func(), start func(context.Context) (W, error)) (w W, err error) {
	if err := context.Cause(ctx); err != nil {
		return w, err
	}
	detach := context.AfterFunc(ctx, cancel)
	w, err = start(keeping)
	if detach() {
		return w, err
	}
	if err == nil {
		_ = w.Close() // that ctx has ended says enough
	}
	return w, context.Cause(ctx)
}

// Acquire gives the worker that lives, in nanoseconds. It may have ended a moment ago: who finds that out calls
// [Supervisor.AcquireOther]. Where none lives, Acquire waits for the next, until ctx ends. It fails with
// [abi.CodeUnavailable] at once while the breaker is open, and says when to try again, and after Close.
func (s *Supervisor[W]) Acquire(ctx context.Context) (W, error) {
	if w := s.live.Load(); w != nil {
		return *w, nil
	}
	var none W
	return s.await(ctx, none)
}

// AcquireOther is Acquire for who was given old and found that it has ended: it never gives that one again. It does not
// end old, so where old lives on, it waits until ctx ends.
func (s *Supervisor[W]) AcquireOther(ctx context.Context, old W) (W, error) {
	return s.await(ctx, old)
}

func (s *Supervisor[W]) await(ctx context.Context, old W) (none W, _ error) {
	for {
		w, changed, err := s.look(old)
		if changed == nil {
			return w, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return none, fmt.Errorf("wait for a worker: %w", ctx.Err())
		}
	}
}

// look gives a worker other than old, an error, or a channel to wait for before looking again.
func (s *Supervisor[W]) look(old W) (w W, changed <-chan struct{}, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.live.Load(); at != nil && *at != old {
		return *at, nil, nil
	}
	switch {
	case s.state.Phase == Closed:
		return w, nil, abi.Errorf(abi.CodeUnavailable, "the provider is closing")
	case s.record.open && s.state.Phase != Live:
		return w, nil, s.refusalLocked()
	}
	return w, s.changed, nil
}

// refusalLocked says when the next start is due. One that is under way is taken to need as long as the first wait.
func (s *Supervisor[W]) refusalLocked() error {
	after := s.cfg.First
	if s.state.Phase == Waiting {
		after = max(time.Until(s.state.Until), 1)
	}
	e := abi.Errorf(abi.CodeUnavailable, "the provider keeps crashing").Because(s.state.Err)
	e.RetryAfter = (after + time.Millisecond - 1).Truncate(time.Millisecond)
	return e
}

// Close ends the worker, or the start under way, and waits until nothing of the supervisor runs any more. From its
// beginning callers are refused. It gives the error of the worker's Close. Every Close waits and gives the same.
func (s *Supervisor[W]) Close() error {
	s.cancel()
	s.shut()
	<-s.gone
	return s.closeErr
}

func (s *Supervisor[W]) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live.Store(nil)
	s.turnLocked(Closed, time.Time{})
}
