package worker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/limits"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
)

// unavailable fails the test when an error is not one that says when to try again.
func unavailable(t *testing.T, err error) {
	t.Helper()
	var e *abi.Error
	if !errors.As(err, &e) || e.Code != abi.CodeUnavailable || e.RetryAfter <= 0 {
		t.Errorf("got %v, want unavailable and when to try again", err)
	}
}

func TestAWorkerKilledWhileIdleIsNotMissed(t *testing.T) {
	leavesNothing(t)
	m := loadPuppet(t, provider.Config{Runner: newRunner(t, worker.Config{}), Limits: limits.Limits{Timeout: patience}}, well)
	for range 4 {
		works(t, m)
		signal(t, unix.SIGKILL)
	}
	works(t, m)
}

func TestACallOfAKilledWorkerIsRetriedUntilTheGuestHasAnswered(t *testing.T) {
	leavesNothing(t)
	for name, tt := range map[string]struct {
		at   int // the step at which the worker is killed
		busy bool
		want abi.Code
	}{
		"waiting for a service":      {at: 0},
		"busy":                       {at: 0, busy: true},
		"waiting, and having spoken": {at: 1, want: abi.CodeUnavailable},
		"busy, and having spoken":    {at: 1, busy: true, want: abi.CodeUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			killed := make(chan struct{}, 1)
			m := loadPuppet(t, provider.Config{Runner: newRunner(t, worker.Config{}), Limits: limits.Limits{Timeout: patience}},
				func(ctx context.Context, n int, req *abi.Request) guesttest.Step {
					if n != tt.at || len(killed) > 0 {
						return well(ctx, n, req)
					}
					killed <- struct{}{}
					if tt.busy {
						pid := workerOf(t)
						go unix.Kill(pid, unix.SIGKILL) // as the guest goes on
						return guesttest.Spin()
					}
					signal(t, unix.SIGKILL)
					return well(ctx, n, req)
				})
			_, err := read(t.Context(), m, "x:o")
			if got := abi.CodeOf(err); got != tt.want {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if err != nil {
				unavailable(t, err)
			}
			recovers(t, m)
		})
	}
}

func TestAWorkerKilledInTheMiddleOfAContentIsReplaced(t *testing.T) {
	leavesNothing(t)
	piece := make([]byte, 512<<10)
	m := loadPuppet(t, provider.Config{Runner: newRunner(t, worker.Config{}), Limits: limits.Limits{Timeout: patience}}, streaming(piece))
	for _, at := range []int{1, 5 << 20, 63 << 20} {
		killed := false
		_, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:64"}, &sink{onBody: func(size int) {
			if size >= at && !killed {
				killed = true
				signal(t, unix.SIGKILL)
			}
		}})
		if err != nil || at < 60<<20 { // near the end all of it may be on the way
			unavailable(t, err)
		}
		recovers(t, m)
	}
}

// streaming answers x:64 with 64 MiB.
func streaming(piece []byte) func(context.Context, int, *abi.Request) guesttest.Step {
	return func(ctx context.Context, n int, req *abi.Request) guesttest.Step {
		switch {
		case req.URI != "x:64":
			return well(ctx, n, req)
		case n == 0:
			return guesttest.Emit((&abi.Content{URI: "x:64", Kind: abi.KindBlob}).Append(nil))
		case n == 1:
			return guesttest.Body(piece).Times(uint32(64 << 20 / len(piece)))
		}
		return guesttest.Return(abi.CodeOK)
	}
}

func TestAStoppedWorkerIsReplacedAtTheDeadline(t *testing.T) {
	takesLong(t)
	leavesNothing(t)
	piece := make([]byte, 512<<10)
	stopped := make(chan bool, 1)
	m := loadPuppet(t, provider.Config{Runner: newRunner(t, worker.Config{}), Limits: limits.Limits{Timeout: patience}},
		func(ctx context.Context, n int, req *abi.Request) guesttest.Step {
			if req.URI == "x:stop" && n == 0 {
				signal(t, unix.SIGSTOP)
				stopped <- true
			}
			return streaming(piece)(ctx, n, req)
		})
	soon := func() context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		t.Cleanup(cancel)
		return ctx
	}
	deadline := func(t *testing.T, err error) {
		t.Helper()
		if got := abi.CodeOf(err); got != abi.CodeDeadline {
			t.Errorf("got %v, want deadline", err)
		}
		recovers(t, m)
	}
	t.Run("while idle", func(t *testing.T) {
		works(t, m)
		signal(t, unix.SIGSTOP)
		_, err := read(soon(), m, "x:o")
		deadline(t, err)
	})
	t.Run("while it waits for a service", func(t *testing.T) {
		_, err := read(soon(), m, "x:stop")
		<-stopped
		deadline(t, err)
	})
	t.Run("in the middle of a content", func(t *testing.T) {
		once := false
		_, err := m.Call(soon(), abi.OpRead, &abi.Request{URI: "x:64"}, &sink{onBody: func(size int) {
			if size > 1<<20 && !once {
				once = true
				signal(t, unix.SIGSTOP)
			}
		}})
		deadline(t, err)
	})
	t.Run("while it ends", func(t *testing.T) {
		standby := standbyOf(t) // which is to take its place
		other := loadPuppet(t, provider.Config{Runner: newRunner(t, worker.Config{})}, well)
		for _, pid := range workers(t) {
			if pid != standby {
				signalTo(t, pid, unix.SIGSTOP)
			}
		}
		if err := other.Close(); err != nil {
			t.Error(err)
		}
		_, err := read(soon(), m, "x:o")
		deadline(t, err)
	})
}

// One call is overdue, and takes the worker with it. Of the two others one had an answer that had begun.
func TestOtherCallsOfAWorkerThatIsKilledAreRetried(t *testing.T) {
	takesLong(t)
	leavesNothing(t)
	begun, goOn := make(chan string, 8), make(chan struct{})
	m := loadPuppet(t, provider.Config{Runner: newRunner(t, worker.Config{}), Limits: limits.Limits{Timeout: patience}},
		func(ctx context.Context, n int, req *abi.Request) guesttest.Step {
			if req.URI == "x:silent" && n == 0 || req.URI == "x:late" && n == 0 || req.URI == "x:spoken" && n == 1 {
				select {
				case <-goOn:
				default:
					begun <- req.URI
					<-goOn
				}
			}
			return well(ctx, n, req)
		})
	results := map[string]chan error{}
	begin := func(ctx context.Context, uri string) {
		done := make(chan error, 1)
		results[uri] = done
		go func() {
			_, err := read(ctx, m, uri)
			done <- err
		}()
		<-begun
	}
	begin(t.Context(), "x:silent")
	begin(t.Context(), "x:spoken")
	late, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	begin(late, "x:late")
	signal(t, unix.SIGSTOP)
	close(goOn)
	if err := <-results["x:late"]; abi.CodeOf(err) != abi.CodeDeadline {
		t.Errorf("the call that was late: got %v, want deadline", err)
	}
	if err := <-results["x:silent"]; err != nil {
		t.Errorf("the call that had said nothing: got %v, want it retried", err)
	}
	unavailable(t, <-results["x:spoken"])
	works(t, m)
}

func TestAWorkerThatIsKilledAllTheTimeIsRefusedAtOnceAndRecovers(t *testing.T) {
	takesLong(t)
	leavesNothing(t)
	m := loadPuppet(t, provider.Config{Runner: newRunner(t, worker.Config{}), Limits: limits.Limits{Timeout: patience}},
		func(ctx context.Context, n int, req *abi.Request) guesttest.Step {
			if req.URI == "x:die" {
				signal(t, unix.SIGKILL)
			}
			return well(ctx, n, req)
		})
	refused := false
	for range 20 {
		_, err := read(t.Context(), m, "x:die")
		if err != nil {
			unavailable(t, err)
		}
		if refused = err != nil && err.Error() == "the provider keeps crashing"; refused {
			break
		}
	}
	if !refused {
		t.Error("no call was refused")
	}
	recovers(t, m)
}

func TestClosingEndsAWorkerInWhateverState(t *testing.T) {
	leavesNothing(t)
	for name, s := range map[string]unix.Signal{"alive": 0, "stopped": unix.SIGSTOP, "dead": unix.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			m := loadPuppet(t, provider.Config{Runner: newRunner(t, worker.Config{})}, well)
			works(t, m)
			signal(t, s)
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			if left := children(t); len(left) > 0 {
				t.Errorf("children are left: %v", left)
			}
			m.EndSession("a")
		})
	}
}
