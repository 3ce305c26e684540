//go:build linux

package hostile_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
	"github.com/wasmres/wasmres/runtime/internal/guest"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
)

// A tenant reads from a provider of its own, again and again, and keeps how long each read took.
type tenant struct {
	quit chan struct{}
	done sync.WaitGroup
	took [1 << 18]time.Duration
	n    atomic.Int64 // of took

	failed  atomic.Int64 // reads
	failure atomic.Value // the error of the last of them
}

// pace is from one read of a tenant to the next.
const pace = 2 * time.Millisecond

// moveIn begins to read from the example hello.
func moveIn(m *provider.Provider) *tenant {
	t := &tenant{quit: make(chan struct{})}
	t.done.Go(func() { t.read(m) })
	return t
}

func (t *tenant) read(m *provider.Provider) {
	req := &abi.Request{URI: "greeting://World", Route: 1, Vars: []abi.Var{{Name: "name", Value: "World"}}}
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for n := t.n.Load(); int(n) < len(t.took); n++ {
		select {
		case <-t.quit:
			return
		case <-ticker.C:
		}
		start := time.Now()
		if _, err := m.Call(context.Background(), abi.OpRead, req, sink{}); err != nil {
			t.failed.Add(1)
			t.failure.Store(err.Error())
		}
		t.took[n] = time.Since(start)
		t.n.Store(n + 1)
		m.AfterResponse()
	}
}

func (t *tenant) moveOut() {
	close(t.quit)
	t.done.Wait()
}

// neighbours returns a runner of workers, and a tenant that reads from a provider in one of them until the test ends.
// The test fails if a read of the tenant fails. grace is that of [worker.Config].
func neighbours(t *testing.T, grace time.Duration) (guest.Runner, *tenant) {
	t.Helper()
	native := &precompiler{dir: t.TempDir()}
	run, err := worker.New(worker.Config{NativeCode: worker.NativeCode{Engine: enginetest.Kind().InWorker(), Compile: native.compile, Invalidate: native.forget}, Grace: grace})
	if err != nil {
		t.Fatal(err)
	}
	clean, err := provider.Open(t.Context(), provider.Config{Runner: run}, guesttest.Binary(t, "hello"))
	if err != nil {
		t.Fatal(err)
	}
	honest := moveIn(clean)
	t.Cleanup(func() {
		honest.moveOut()
		if err := clean.Close(); err != nil {
			t.Error(err)
		}
		if failed := honest.failed.Load(); failed > 0 {
			t.Errorf("%d of %d reads of the tenant failed, as with %v", failed, honest.n.Load(), honest.failure.Load())
		}
	})
	return run, honest
}

// since returns how the reads went from the n-th on.
func (t *tenant) since(n int64) reads { return slices.Sorted(slices.Values(t.took[n:t.n.Load()])) }

// reads are how long they took, in order.
type reads []time.Duration

func (r reads) quantile(q float64) time.Duration {
	if len(r) == 0 {
		return 0
	}
	return r[min(int(q*float64(len(r))), len(r)-1)]
}

func (r reads) String() string {
	us := func(q float64) int64 { return r.quantile(q).Microseconds() }
	return fmt.Sprintf("n %6d  p50 %5d µs  p90 %5d µs  p99 %6d µs  p99.9 %6d µs  most %6d µs", len(r), us(.5), us(.9), us(.99), us(.999), us(1))
}
