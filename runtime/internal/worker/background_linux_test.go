package worker_test

import (
	"context"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/limits"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
)

// inBackground reports whether a worker leaves a processor to others.
func inBackground(t *testing.T, pid int) bool {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(pid, &set); err != nil {
		t.Fatal(err)
	}
	return set.Count() < goruntime.NumCPU()
}

// spinning opens a module whose reads take all the time they have. Its worker is the last but the standby worker.
func spinning(t *testing.T, r *worker.Runner, timeout time.Duration) *provider.Provider {
	t.Helper()
	return loadPuppet(t, provider.Config{Runner: r, Limits: limits.Limits{Timeout: timeout}},
		func(context.Context, int, *abi.Request) guesttest.Step { return guesttest.Spin() })
}

// spin reads from it until ctx ends, and says when that is over.
func spin(ctx context.Context, m *provider.Provider) (over <-chan error) {
	done := make(chan error, 1)
	go func() {
		_, err := read(ctx, m, "x:o")
		done <- err
	}()
	return done
}

func TestALongCallRunsInTheBackground(t *testing.T) {
	if goruntime.NumCPU() == 1 {
		return // there is no other processor
	}
	r := newRunner(t, worker.Config{Grace: patience}) // a busy machine delays the end of calls
	quiet := loadPuppet(t, provider.Config{Runner: r}, well)
	its := workerOf(t)
	busy := spinning(t, r, patience)
	hog := workers(t)[1]
	works(t, quiet)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	over := spin(ctx, busy)
	eventually(t, func() bool {
		works(t, quiet) // or it is no longer called
		return inBackground(t, hog)
	})
	if inBackground(t, its) {
		t.Error("the worker of quick calls runs in the background too")
	}
	stop()
	if err := <-over; abi.CodeOf(err) != abi.CodeCancelled {
		t.Errorf("got %v, want %v", err, abi.CodeCancelled)
	}
	eventually(t, func() bool { return !inBackground(t, hog) })
}

func TestACallAloneUsesAllProcessors(t *testing.T) {
	takesLong(t)
	r := newRunner(t, worker.Config{Grace: patience})        // a busy machine delays the end of calls
	quiet := loadPuppet(t, provider.Config{Runner: r}, well) // is open, and not called
	busy := spinning(t, r, 3*time.Second)
	hog := workers(t)[1]
	over := spin(t.Context(), busy)
	for {
		select {
		case err := <-over:
			if abi.CodeOf(err) != abi.CodeDeadline {
				t.Errorf("got %v, want %v", err, abi.CodeDeadline)
			}
			works(t, quiet)
			return
		default:
			if inBackground(t, hog) {
				t.Error("it runs in the background, with no other calls")
			}
		}
	}
}
