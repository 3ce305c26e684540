package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"
)

// A Worker is what is kept alive. It is a constraint; what satisfies it is usually a pointer.
type Worker interface {
	comparable
	// Done gives always the same channel, which is closed when the worker has ended, for whatever reason.
	Done() <-chan struct{}
	// Close ends the worker, waits until it has, and says what was wrong with it, if anything was. The supervisor calls
	// it once for each worker; where Done is closed before, it must return at once. Whoever finds a worker unusable may
	// call it too, so it must bear several calls, also at one time.
	Close() error
}

// Config configures a Supervisor.
type Config[W Worker] struct {
	// Start starts a worker; required. It must bound its own time and leave nothing behind when it fails. A worker may
	// keep ctx, which ends when the supervisor closes, and has the values of the context given to [Open].
	Start func(ctx context.Context) (W, error)

	// First and Most bound the wait before a start. After one end the next worker is started at once; after the second
	// the wait is First, which doubles with each further end up to Most. Each wait is shortened at random, by at most
	// half. Zero means 100 ms and 10 s, or the other one where that is the narrower bound.
	First, Most time.Duration
	// Steady is for how long a worker must live for all ends before its own to be forgotten. Zero means 30 s.
	Steady time.Duration

	// The breaker opens with more than Deaths ends within Window, and closes when a worker lives for Steady. While it is
	// open and no worker lives, callers are refused at once instead of waiting. A start that fails is an end. Zero means
	// 5 within 30 s.
	Deaths int
	Window time.Duration

	// Random gives the numbers from 0, inclusive, to 1, exclusive, by which waits are shortened: 0 not at all. It is
	// called by one goroutine at a time. Nil means [rand.Float64].
	Random func() float64
	// Logger hears of each end, how often it has happened and when the next start is. Nil discards.
	Logger *slog.Logger
}

func (cfg *Config[W]) complete() error {
	var errs []error
	if cfg.Start == nil {
		errs = append(errs, errors.New("no start function"))
	}
	if min(cfg.First, cfg.Most, cfg.Steady, cfg.Window) < 0 || cfg.Deaths < 0 {
		errs = append(errs, errors.New("a bound is negative"))
	}
	if cfg.Most != 0 && cfg.First > cfg.Most {
		errs = append(errs, fmt.Errorf("the first wait, %v, is longer than the longest, %v", cfg.First, cfg.Most))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	cfg.setDefaults()
	return nil
}

func (cfg *Config[W]) setDefaults() {
	setDefault(&cfg.Most, max(10*time.Second, cfg.First))
	setDefault(&cfg.First, min(100*time.Millisecond, cfg.Most))
	setDefault(&cfg.Steady, 30*time.Second)
	setDefault(&cfg.Deaths, 5)
	setDefault(&cfg.Window, 30*time.Second)
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
