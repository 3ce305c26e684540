//go:build linux

package hostile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/engine/engines"
	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
	"github.com/wasmres/wasmres/runtime/internal/module"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
)

// Bounds of attacks that only the worker process holds back: modules are neither admitted
// nor metered, and the worker itself compiles them.
const (
	processTimeout = 200 * time.Millisecond // of a call
	processLoad    = time.Second            // to open a module
	processCompile = 500 * time.Millisecond // to open one that takes long to compile
	processLarge   = 8 << 20                // bytes of a module that has processLoad whatever it is, as it takes long to copy
	processLate    = 100 * time.Millisecond // over any of them
	processTries   = 3                      // of which one must not be late: the whole machine may be

	processSlower = 2        // times the quiet p99 of a tenant's reads
	processReads  = 2000     // fewer say nothing about that
	processGrowth = 8 << 20  // bytes that the parent keeps
	processPeak   = 32 << 20 // bytes that it takes for a moment, beside copies of the module

	quietTime  = 3 * time.Second
	honestTime = 4 * time.Second
)

// A processTest is a parent with a tenant whose worker is not attacked.
type processTest struct {
	runner *worker.Runner
	tenant *tenant
	loud   reads    // of the tenant, during attacks
	table  []string // a line for each row
	before census
}

func TestTheProcessHoldsAttacksAlone(t *testing.T) {
	alone(t)
	w := newProcessTest(t)
	quiet := w.during(func() { <-time.After(quietTime) })
	peers := w.during(func() { w.honest(t) })
	w.before = count()
	for _, row := range hostile.Rows() {
		t.Run(string(row), func(t *testing.T) { w.assault(t, row) })
	}
	now := settled(w.before)
	after := w.during(func() { w.honest(t) })
	t.Logf("%v\n%s\nreads of the tenant, with\n  no other tenant    %v\n  honest providers   %v\n  the corpus         %v\n  honest ones again  %v\nbefore: %v\nafter:  %v\nthe largest worker had %d MiB",
		w.runner.Isolation().Layers, strings.Join(w.table, "\n"), quiet, peers, w.loud, after, w.before, now, largestChild()>>20)
	w.judge(t, now)
	judgeReads(t, w.loud, max(quiet.quantile(.99), peers.quantile(.99), after.quantile(.99)))
}

// newProcessTest starts the tenant.
func newProcessTest(t *testing.T) *processTest {
	t.Helper()
	raws := &rawModules{}
	t.Cleanup(raws.clear)
	runner, err := worker.New(worker.Config{NativeCode: worker.NativeCode{Engine: enginetest.Kind().InWorker(), Compile: raws.compile, Invalidate: raws.forget}})
	if err != nil {
		t.Fatal(err)
	}
	clean, err := provider.Open(t.Context(), provider.Config{Runner: runner}, guesttest.Binary(t, "hello"))
	if err != nil {
		t.Fatal(err)
	}
	w := &processTest{runner: runner, tenant: moveIn(clean)}
	t.Cleanup(func() {
		w.tenant.moveOut()
		if err := clean.Close(); err != nil {
			t.Errorf("the tenant's provider: %v", err)
		}
	})
	return w
}

// during returns the tenant's reads while something is done.
func (w *processTest) during(do func()) reads {
	from := w.tenant.n.Load()
	do()
	return w.tenant.since(from)
}

// honest does for a while what the corpus does, with a module that is admitted and metered: it is opened, computes
// until its time is up, and is closed.
func (w *processTest) honest(t *testing.T) {
	t.Helper()
	i := slices.IndexFunc(hostile.Cases(), func(c hostile.Case) bool { return c.Name == "loop-counted" })
	c := hostile.Cases()[i]
	b := w.newBlow(c)
	p, err := provider.Instrument(b.cfg, c.Modules()[0])
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(honestTime); time.Now().Before(end); {
		if err := b.strike(p); err != nil {
			t.Error(err)
		}
	}
}

// assault runs the cases of a row, one after the other.
func (w *processTest) assault(t *testing.T, row hostile.Row) {
	all := tally{codes: map[string]int{}, after: map[string]int{}}
	began, before := time.Now(), w.loud
	w.loud = nil
	for _, c := range hostile.Cases() {
		if c.Row == row && wanted(c) {
			t.Run(c.Name, func(t *testing.T) { all.add(c.Name, w.attack(t, c)) })
		}
	}
	heard := w.loud
	w.loud = append(before, heard...)
	slices.Sort(heard)
	slices.Sort(w.loud)
	w.table = append(w.table, fmt.Sprintf("%-12s %v in %v\n%13s%v", row, &all, time.Since(began).Round(time.Second/10), "", heard))
	if now := count(); now.resident > w.before.resident+processGrowth {
		t.Errorf("the parent: got %v, want no more than %v", now, w.before)
	}
}

// attack runs a case and holds it to the bounds. What the tenant notices of the making of modules does not count.
func (w *processTest) attack(t *testing.T, c hostile.Case) *tally {
	t.Helper()
	modules, size := prepare(t, c)
	b := w.newBlow(c)
	if b.modules = len(modules); size > processLarge {
		b.load = processLoad
	}
	before := count()
	resetPeak()
	w.loud = append(w.loud, w.during(func() {
		for _, p := range modules {
			if err := b.strikeInTime(p); err != nil {
				t.Errorf("close: %v", err)
			}
		}
	})...)
	grew := peak() - before.resident
	t.Logf("%v, parent +%.1f MiB for %.1f MiB, %s", &b.tally, float64(grew)/(1<<20), float64(size)/(1<<20), b.failure)
	if late := mostLate(c); b.late > late {
		t.Errorf("got an end %v late, at most %v are allowed (%s)", b.late, late, c.Why)
	}
	if grew > processPeak+8*int64(size) {
		t.Errorf("the parent grew by %d bytes, for modules of %d", grew, size)
	}
	if b.odd != "" {
		t.Errorf("an error that makes no sense: %s", b.odd)
	}
	return &b.tally
}

// mostLate is how late a case may end. wasmtime takes 1.5 GiB for billions of locals before it refuses them, which the kernel frees
// when the parent kills the worker.
func mostLate(c hostile.Case) time.Duration {
	if c.Name == "count-locals" && enginetest.Kind() == engines.Wasmtime {
		return 5 * processLate / 2
	}
	return processLate
}

// prepare makes the modules of a case, each as often as it is opened.
func prepare(t *testing.T, c hostile.Case) (modules []*module.Module, size int) {
	t.Helper()
	for _, m := range modulesOf(c) {
		size += len(m)
		for range min(max(c.Loads, 1), 2) {
			modules = append(modules, raw(t, c, m))
		}
	}
	return modules, size
}

func (w *processTest) judge(t *testing.T, now census) {
	t.Helper()
	if now.goroutines > w.before.goroutines || now.files > w.before.files || now.children > w.before.children {
		t.Errorf("the parent: got %v, want what there was before: %v", now, w.before)
	}
	if n := w.tenant.failed.Load(); n > 0 {
		t.Errorf("%d reads of the tenant failed, as with %v", n, w.tenant.failure.Load())
	}
}

func judgeReads(t *testing.T, got reads, quiet time.Duration) {
	t.Helper()
	if p99 := got.quantile(.99); len(got) >= processReads && p99 > processSlower*quiet {
		t.Errorf("p99 of the tenant's reads: got %v, want at most %d times the %v without attacks", p99, processSlower, quiet)
	}
}
