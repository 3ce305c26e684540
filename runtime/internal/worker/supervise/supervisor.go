package supervise

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// A Supervisor keeps one worker running. It is safe for concurrent use. It must be closed.
type Supervisor[W Worker] struct {
	// fixed at creation
	cfg    Config[W]
	cancel context.CancelFunc
	done   chan struct{} // closed when its goroutine has ended

	current atomic.Pointer[W] // nil when there is none; a worker is stored under mu, and not after Close

	mu       sync.Mutex // guards the fields below
	state    State      // without Open and Row, which the history has
	history  history
	started  time.Time     // when the last worker was ready
	changed  chan struct{} // closed and replaced when waiting callers must poll again
	closeErr error
}

// Open starts the first worker, and keeps one running until Close. It returns the error of the first start. The end of
// ctx ends the first start, but nothing after it.
func Open[W Worker](ctx context.Context, cfg Config[W]) (*Supervisor[W], error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("supervise: %w", err)
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w, err := startFirst(ctx, running, cancel, cfg.Start)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("start worker: %w", err)
	}
	s := &Supervisor[W]{
		cfg: cfg, cancel: cancel, done: make(chan struct{}), changed: make(chan struct{}),
		state: State{Starts: 1},
		history: history{
			minBackoff: cfg.MinBackoff, maxBackoff: cfg.MaxBackoff, stableAfter: cfg.StableAfter,
			maxExits: cfg.MaxExits, window: cfg.Window,
		},
	}
	s.publish(w)
	go s.run(running, w)
	return s, nil
}

// startFirst starts a worker that may outlive ctx.
func startFirst[W Worker](ctx, running context.Context, cancel func(), start func(context.Context) (W, error)) (w W, err error) {
	if err := context.Cause(ctx); err != nil {
		return w, err
	}
	detach := context.AfterFunc(ctx, cancel)
	w, err = start(running)
	if detach() {
		return w, err
	}
	if err == nil {
		_ = w.Close() // the end of ctx is the error
	}
	return w, context.Cause(ctx)
}

// Acquire returns the running worker, within nanoseconds if there is one. The worker may have just ended: then the
// caller calls [Supervisor.AcquireOther]. Otherwise Acquire waits for the next worker until ctx ends. The error is
// [abi.CodeUnavailable] after Close and, with the time to retry after, while the breaker is open.
func (s *Supervisor[W]) Acquire(ctx context.Context) (W, error) {
	if w := s.current.Load(); w != nil {
		return *w, nil
	}
	var none W
	return s.await(ctx, none)
}

// AcquireOther is Acquire for a caller that found that old has ended: it never returns old. It does not end old; while
// old runs, it waits until ctx ends.
func (s *Supervisor[W]) AcquireOther(ctx context.Context, old W) (W, error) {
	return s.await(ctx, old)
}

func (s *Supervisor[W]) await(ctx context.Context, old W) (none W, _ error) {
	for {
		w, changed, err := s.poll(old)
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

// poll returns a worker other than old, an error, or a channel to wait for before polling again.
func (s *Supervisor[W]) poll(old W) (w W, changed <-chan struct{}, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.current.Load(); at != nil && *at != old {
		return *at, nil, nil
	}
	switch {
	case s.state.Phase == Closed:
		return w, nil, abi.Errorf(abi.CodeUnavailable, "the provider is closing")
	case s.history.open && s.state.Phase != Live:
		return w, nil, s.refusalLocked()
	}
	return w, s.changed, nil
}

// refusalLocked returns the error while the breaker is open. It has the time until the next start; MinBackoff if a
// start is under way.
func (s *Supervisor[W]) refusalLocked() error {
	after := s.cfg.MinBackoff
	if s.state.Phase == Waiting {
		after = max(time.Until(s.state.Until), 1)
	}
	e := abi.Errorf(abi.CodeUnavailable, "the provider keeps crashing").Because(s.state.Err)
	e.RetryAfter = (after + time.Millisecond - 1).Truncate(time.Millisecond)
	return e
}

// Close ends the worker, or the start under way, and waits until the supervisor has ended. Callers are refused from
// then on. It returns the error of the worker's Close. Every call of Close waits and returns the same.
func (s *Supervisor[W]) Close() error {
	s.cancel()
	s.stop()
	<-s.done
	return s.closeErr
}

func (s *Supervisor[W]) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.Store(nil)
	s.setPhaseLocked(Closed, time.Time{})
}
