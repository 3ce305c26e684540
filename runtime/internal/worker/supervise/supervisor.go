package supervise

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// A Supervisor keeps one worker running. It is safe for concurrent use. It must be closed. It has a goroutine while a
// worker runs or is to be started, and none while it is stopped.
type Supervisor[W Worker] struct {
	// fixed at creation
	cfg    Config[W]
	ctx    context.Context // of all workers; ends with Close
	cancel context.CancelFunc
	opened time.Time

	// current is nil when no worker runs. It is written under mu, and not after Close. A stop takes it away before it looks
	// at users, and a caller counts itself in users before it looks at current: so one of them sees the other.
	current  atomic.Pointer[life[W]]
	users    atomic.Int64 // callers that wait for a worker or use it
	lastUsed atomic.Int64 // when users last became fewer, as time since opened
	queued   atomic.Bool  // abandon is set

	running sync.WaitGroup // goroutines; Add is called under mu, and not after Close

	mu       sync.Mutex // guards the fields below
	state    State      // without Open and Row, which the history has
	history  history
	trial    bool               // a caller has begun this start, so that callers wait for it although the breaker is open
	abandon  context.CancelFunc // ends Config.Prepare; nil when it does not run, or must go on without callers
	changed  chan struct{}      // closed and replaced when waiting callers must poll again
	closeErr error
}

// A life is the time for which one worker runs.
type life[W Worker] struct {
	worker  W
	began   time.Time
	stopped chan struct{} // closed when the worker was stopped
}

// Open starts the first worker, and keeps one running until Close. It returns the error of the first start. The end of
// ctx ends the first start, but nothing after it.
func Open[W Worker](ctx context.Context, cfg Config[W]) (*Supervisor[W], error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("supervise: %w", err)
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w, err := startFirst(ctx, running, cancel, &cfg)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("start worker: %w", err)
	}
	s := newSupervisor(running, cancel, cfg)
	s.state.Starts = 1
	l := s.publish(w)
	s.running.Go(func() { s.run(l) })
	return s, nil
}

// OpenStopped is Open without a first worker: the first caller starts it.
func OpenStopped[W Worker](ctx context.Context, cfg Config[W]) (*Supervisor[W], error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("supervise: %w", err)
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := newSupervisor(running, cancel, cfg)
	s.state.Phase = Stopped
	return s, nil
}

func newSupervisor[W Worker](ctx context.Context, cancel context.CancelFunc, cfg Config[W]) *Supervisor[W] {
	return &Supervisor[W]{
		cfg: cfg, ctx: ctx, cancel: cancel, opened: time.Now(), changed: make(chan struct{}),
		history: history{
			minBackoff: cfg.MinBackoff, maxBackoff: cfg.MaxBackoff, stableAfter: cfg.StableAfter,
			maxExits: cfg.MaxExits, window: cfg.Window,
		},
	}
}

// startFirst starts a worker that may outlive ctx.
func startFirst[W Worker](ctx, running context.Context, cancel func(), cfg *Config[W]) (w W, err error) {
	if err := context.Cause(ctx); err != nil {
		return w, err
	}
	detach := context.AfterFunc(ctx, cancel)
	if cfg.Prepare != nil {
		if err := cfg.Prepare(running); err != nil {
			detach()
			return w, errors.Join(err, context.Cause(ctx))
		}
	}
	w, err = cfg.Start(running)
	if detach() {
		return w, err
	}
	if err == nil {
		_ = w.Close() // the end of ctx is the error
	}
	return w, context.Cause(ctx)
}

// Acquire returns the running worker, within nanoseconds if there is one. The worker may have just ended: then the
// caller calls [Supervisor.AcquireOther]. Otherwise Acquire waits for the next worker until ctx ends; it starts one if
// the last one was stopped. Without an error the caller must call [Supervisor.Release] when it no longer uses workers.
// The error is [abi.CodeUnavailable] after Close and, with the time to retry after, while the breaker is open.
func (s *Supervisor[W]) Acquire(ctx context.Context) (W, error) {
	s.users.Add(1)
	if l := s.current.Load(); l != nil {
		return l.worker, nil
	}
	var none W
	w, err := s.await(ctx, none)
	if err != nil {
		s.Release()
	}
	return w, err
}

// AcquireOther is Acquire for a caller that has not released old, and found that it has ended: it never returns old. It
// does not end old; while old runs, it waits until ctx ends. The caller calls Release once, also after an error.
func (s *Supervisor[W]) AcquireOther(ctx context.Context, old W) (W, error) {
	return s.await(ctx, old)
}

// Release ends the use of a caller of Acquire. The worker may be stopped when no use is left.
func (s *Supervisor[W]) Release() {
	s.lastUsed.Store(int64(time.Since(s.opened)))
	if s.users.Add(-1) > 0 {
		return
	}
	if s.queued.Load() {
		s.abandonStart()
	}
	s.cfg.Unused()
}

// Current returns the running worker; none if there is none. It starts none, and is no use of the worker.
func (s *Supervisor[W]) Current() (w W, ok bool) {
	if l := s.current.Load(); l != nil {
		return l.worker, true
	}
	return w, false
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
			return none, s.waitError(ctx)
		}
	}
}

// waitError returns the error for a caller whose ctx has ended.
func (s *Supervisor[W]) waitError(ctx context.Context) error {
	inQueue := s.State().Phase == Queued && s.cfg.Queued != nil
	if inQueue && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return s.cfg.Queued()
	}
	return fmt.Errorf("wait for a worker: %w", ctx.Err())
}

// poll returns a worker other than old, an error, or a channel to wait for before polling again.
func (s *Supervisor[W]) poll(old W) (w W, changed <-chan struct{}, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.current.Load(); l != nil && l.worker != old {
		return l.worker, nil, nil
	}
	switch {
	case s.state.Phase == Closed:
		return w, nil, abi.Errorf(abi.CodeUnavailable, "the provider is closing")
	case s.state.Phase == Stopped:
		s.startAgainLocked()
	case s.history.open && s.state.Phase != Live && !s.trial:
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
	s.shut()
	s.running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closeErr
}

func (s *Supervisor[W]) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.Store(nil)
	s.setPhaseLocked(Closed, time.Time{})
}
