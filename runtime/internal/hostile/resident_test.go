//go:build linux

package hostile_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
	"github.com/wasmres/wasmres/runtime/internal/guest"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/attack"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
)

// residentTimeout is the limit of a call of a case that is stopped: what takes memory takes it at once.
const residentTimeout = 50 * time.Millisecond

// TestNoWorkerTakesMoreThanItsLimitAnd64MiB runs the corpus in workers, one for each module, and looks at the most resident
// memory that each has had. How the attacks end is judged elsewhere. Cases of the same limit run beside each other: the largest
// worker of all must be within it.
func TestNoWorkerTakesMoreThanItsLimitAnd64MiB(t *testing.T) {
	alone(t)
	native := &precompiler{dir: t.TempDir()}
	run, err := worker.New(worker.Config{NativeCode: worker.NativeCode{Engine: enginetest.Kind().InWorker(), Compile: native.compile, Invalidate: native.forget}})
	if err != nil {
		t.Fatal(err)
	}
	byLimit := map[int64][]hostile.Case{}
	for _, c := range hostile.Cases() {
		if !c.LoadOnly() && c.Row != hostile.RowCompile && wanted(c) {
			byLimit[mayTake(c)] = append(byLimit[mayTake(c)], c)
		}
	}
	for limit, cases := range byLimit {
		t.Run(fmt.Sprintf("%d MiB", limit>>20), func(t *testing.T) {
			var most atomic.Int64
			t.Cleanup(func() { t.Logf("a worker took %d MiB", most.Load()>>20) })
			for _, c := range cases {
				t.Run(c.Name, func(t *testing.T) {
					t.Parallel()
					for _, m := range c.Modules() {
						took := residentIn(t, run, c, m)
						if took > limit {
							t.Errorf("%s: a worker took %d MiB, at most %d MiB are allowed (%s)", c.Row, took>>20, limit>>20, c.Why)
						}
						for before := most.Load(); took > before && !most.CompareAndSwap(before, took); before = most.Load() {
						}
					}
				})
			}
		})
	}
}

// residentIn is the most resident memory, in bytes, that any worker has had when a case has run with a module; 0 where there was no
// worker of the module, since it was refused.
func residentIn(t *testing.T, run guest.Runner, c hostile.Case, module []byte) int64 {
	t.Helper()
	a := attack.New(c, provider.Config{
		Runner: run, Limits: attack.LimitsOf(c), Services: capability.Services{abi.ServiceConfig: capability.Config{"k": "v"}},
	})
	if slices.Contains(c.Want, "deadline") {
		a.Config.Limits.Timeout = residentTimeout
	}
	m := a.Load(module)
	if m == nil {
		return 0
	}
	defer func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}()
	if a.Case.Op == abi.OpDescribe {
		a.Case.Op, a.Case.URI = abi.OpRead, "x:a"
	}
	a.Ask(m)
	return largestWorker()
}
