package worker_test

import (
	"context"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
)

// Guests that compute until their time is up, more of them than there are processors, end by themselves: a worker is
// not killed for being busy. Go would let each compute for 10 ms at a time, so that a second would pass between two turns
// of one: twice the grace, which is that long because other programs may be busy as well. With the race detector the grace is longer
// still, and all this shows is that the guests end by themselves.
func TestABusyWorkerIsNotKilled(t *testing.T) {
	const grace = 500 * time.Millisecond * worker.Slowdown
	var log journal
	cfg := provider.Config{
		Runner: newRunner(t, worker.Config{Logger: log.logger(), Grace: grace}),
		Limits: limits.Limits{Timeout: 300 * time.Millisecond, Calls: 100 * goruntime.GOMAXPROCS(0)},
	}
	m := loadPuppet(t, cfg, func(context.Context, int, *abi.Request) guesttest.Step { return guesttest.Spin() })
	var clients sync.WaitGroup
	for range m.Info().Limits.Calls {
		clients.Go(func() {
			for range 2 {
				if _, err := read(t.Context(), m, "x:spin"); abi.CodeOf(err) != abi.CodeDeadline {
					t.Errorf("got %v, want deadline", err)
				}
			}
		})
	}
	clients.Wait()
	if killed := strings.Count(log.String(), "worker killed"); killed > 0 {
		t.Errorf("the worker was killed %d times", killed)
	}
}
