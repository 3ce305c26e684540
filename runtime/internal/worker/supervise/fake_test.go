package supervise_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/supervise"
)

// worker is one that ends when it is told to.
type worker struct {
	done   chan struct{}
	end    func()
	closes atomic.Int32
	err    error         // what Close says
	slow   time.Duration // how long Close takes
}

func newWorker() *worker {
	w := &worker{done: make(chan struct{})}
	w.end = sync.OnceFunc(func() { close(w.done) })
	return w
}

// mortal is a worker that ends by itself.
func mortal(life time.Duration) *worker {
	w := newWorker()
	if life == 0 {
		w.end()
	} else {
		time.AfterFunc(life, w.end)
	}
	return w
}

func (w *worker) Done() <-chan struct{} { return w.done }

func (w *worker) Close() error {
	w.closes.Add(1)
	w.end()
	time.Sleep(w.slow)
	return w.err
}

func (w *worker) ended() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

var errStart = errors.New("no such program")

// play starts workers as the script says, the last line of it over and over, and notes when.
type play struct {
	script []func() (*worker, error)
	begun  time.Time
	at     []time.Duration
}

func (p *play) start(context.Context) (*worker, error) {
	if p.at == nil {
		p.begun = time.Now()
	}
	line := p.script[min(len(p.at), len(p.script)-1)]
	p.at = append(p.at, time.Since(p.begun))
	return line()
}

func lives(life time.Duration) func() (*worker, error) {
	return func() (*worker, error) { return mortal(life), nil }
}

func fails() (*worker, error) { return nil, errStart }

func immortal() (*worker, error) { return newWorker(), nil }

func exact() float64 { return 0 }

type supervisor = supervise.Supervisor[*worker]
type config = supervise.Config[*worker]

// open runs a test in a bubble of its own, with a supervisor that is closed at its end.
func open(t *testing.T, cfg config, test func(t *testing.T, s *supervisor)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if cfg.Random == nil {
			cfg.Random = exact
		}
		s, err := supervise.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		synctest.Wait()
		test(t, s)
	})
}

// acquired is the worker there is now.
func acquired(t *testing.T, s *supervisor) *worker {
	t.Helper()
	w, err := s.Acquire(t.Context())
	if err != nil || w == nil {
		t.Fatalf("got %v, %v, want a worker", w, err)
	}
	return w
}

// refused checks that a call is refused at once.
func refused(t *testing.T, s *supervisor, message string, after time.Duration) *abi.Error {
	t.Helper()
	began := time.Now()
	w, err := s.Acquire(t.Context())
	var e *abi.Error
	if !errors.As(err, &e) || w != nil || e.Code != abi.CodeUnavailable || e.Message != message || e.RetryAfter != after {
		t.Fatalf("got %v, %#v, want a refusal: %s, try again after %v", w, err, message, after)
	}
	if waited := time.Since(began); waited != 0 {
		t.Fatalf("refused after %v, want at once", waited)
	}
	return e
}
