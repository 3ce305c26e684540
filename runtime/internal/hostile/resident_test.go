//go:build linux

package hostile_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

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
// memory that each has had. How the attacks end is judged elsewhere.
func TestNoWorkerTakesMoreThanItsLimitAnd64MiB(t *testing.T) {
	alone(t)
	native := precompiler(t.TempDir())
	run, err := worker.New(worker.Config{Compile: native.compile, Invalidate: native.forget})
	if err != nil {
		t.Fatal(err)
	}
	var most int64
	var largest string
	for _, c := range hostile.Cases() {
		if c.LoadOnly() || c.Row == hostile.RowCompile || !wanted(c) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			for _, m := range c.Modules() {
				took := residentIn(t, run, c, m)
				if took > mayTake(c) {
					t.Errorf("%s: a worker took %d MiB, at most %d MiB are allowed (%s)", c.Row, took>>20, mayTake(c)>>20, c.Why)
				}
				if over := took - int64(cmp.Or(c.Memory, hostile.Memory)); over > most || largest == "" {
					most, largest = over, c.Name
				}
			}
		})
	}
	t.Logf("the most over the limit of an instance were %d MiB, in case %s", most>>20, largest)
}

// residentIn is the most resident memory, in bytes, that the worker of a module has while a case runs; 0 where there was
// none, since the module was refused.
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
