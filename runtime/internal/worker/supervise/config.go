package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"
)

// A Worker is what a supervisor keeps running. It is a constraint, which pointers usually satisfy.
type Worker interface {
	comparable
	// Done returns the same channel each time. It is closed when the worker has ended, for any reason.
	Done() <-chan struct{}
	// Close ends the worker, waits for its end, and returns an error if it failed before. The supervisor calls it once
	// for each worker; if Done is closed, it must return at once. It must be idempotent and safe for concurrent use,
	// since a caller that finds a worker unusable may call it too.
	Close() error
}

// Config configures a Supervisor.
type Config[W Worker] struct {
	// Start starts a worker; required. It must bound its own time and release everything when it fails. A worker may
	// keep ctx, which ends when the supervisor closes, and has the values of the context given to [Open].
	Start func(ctx context.Context) (W, error)

	// Prepare waits until a start may begin, and does what must precede it; nil for nothing. Each Prepare that returns nil is
	// followed by one Start. Any other return counts as a start that failed, unless ctx has ended. ctx ends when the
	// supervisor closes and, with Idle, when no caller waits any longer.
	Prepare func(ctx context.Context) error
	// Queued returns the error for a caller whose time ends during Prepare. Nil means that of its context.
	Queued func() error
	// Idle returns how long a worker that no caller uses keeps running, at least 1 ns. Then the supervisor stops it, which
	// is no exit, and the next caller starts one. With Idle a worker that ended is replaced for callers only, not in
	// advance. Idle may return another time later. Nil stops no worker.
	Idle func() time.Duration

	// Unused is called when a worker runs that no caller uses any more, or none has used yet. It must not block. Nil calls
	// nothing.
	Unused func()

	// MinBackoff and MaxBackoff bound the wait before a start. After one exit the next worker is started at once; after
	// the second the wait is MinBackoff, which doubles with each further exit up to MaxBackoff. Each wait is shortened
	// at random, by at most half. Zero means 100 ms and 10 s, or the other bound if that is narrower.
	MinBackoff, MaxBackoff time.Duration
	// StableAfter is how long a worker must run for the supervisor to forget all earlier exits. Zero means 30 s.
	StableAfter time.Duration

	// The breaker opens after more than MaxExits exits within Window, and closes when a worker runs for StableAfter. While
	// it is open and no worker runs, callers are refused at once and do not wait. A start that fails counts as an exit.
	// Zero means 5 within 30 s.
	MaxExits int
	Window   time.Duration

	// Random returns the numbers in [0,1) by which waits are shortened; 0 shortens nothing. It is called by one
	// goroutine at a time. Nil means [rand.Float64].
	Random func() float64
	// Logger gets a record of each start, stop and exit. Nil discards.
	Logger *slog.Logger
}

func (cfg *Config[W]) complete() error {
	var errs []error
	if cfg.Start == nil {
		errs = append(errs, errors.New("config: Start is required"))
	}
	if min(cfg.MinBackoff, cfg.MaxBackoff, cfg.StableAfter, cfg.Window) < 0 || cfg.MaxExits < 0 {
		errs = append(errs, errors.New("MinBackoff, MaxBackoff, StableAfter, Window and MaxExits must not be negative"))
	}
	if cfg.MaxBackoff != 0 && cfg.MinBackoff > cfg.MaxBackoff {
		errs = append(errs, fmt.Errorf("MinBackoff %v is longer than MaxBackoff %v", cfg.MinBackoff, cfg.MaxBackoff))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	cfg.setDefaults()
	return nil
}

func (cfg *Config[W]) setDefaults() {
	setDefault(&cfg.MaxBackoff, max(10*time.Second, cfg.MinBackoff))
	setDefault(&cfg.MinBackoff, min(100*time.Millisecond, cfg.MaxBackoff))
	setDefault(&cfg.StableAfter, 30*time.Second)
	setDefault(&cfg.MaxExits, 5)
	setDefault(&cfg.Window, 30*time.Second)
	if cfg.Unused == nil {
		cfg.Unused = func() {}
	}
	setDefault(&cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Random == nil {
		cfg.Random = rand.Float64
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
