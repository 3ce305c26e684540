package worker_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
)

func TestOneStandbyWorkerServesAllModulesAndEndsWithTheLast(t *testing.T) {
	leavesNothing(t)
	r := newRunner(t, worker.Config{})
	open := func() *provider.Provider {
		t.Helper()
		m, err := provider.Open(t.Context(), provider.Config{Runner: r, Services: puppetThat(well).Services()}, puppetThat(well).Binary(t))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	first, second := open(), open()
	eventually(t, func() bool { return len(workers(t)) == 3 })
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if got := len(workers(t)); got != 2 {
		t.Errorf("got %d workers, want that of the second module and the standby worker", got)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("children are left: %v", left)
	}
}

func TestAPoolOfStandbyWorkersIsFilledAgain(t *testing.T) {
	leavesNothing(t)
	r := newRunner(t, worker.Config{Standby: 3})
	first := load(t, provider.Config{Runner: r, Limits: patient}, wat(t, "faults.wasm"))
	eventually(t, func() bool { return len(workers(t)) == 4 })
	standby := workers(t)[1:]
	second := load(t, provider.Config{Runner: r, Limits: patient}, wat(t, "faults.wasm"))
	eventually(t, func() bool { return len(workers(t)) == 5 })
	if now := workers(t); !slices.Equal(now[1:4], standby) {
		t.Errorf("got workers %v, want the standby workers %v still: one of them serves the second provider", now, standby)
	}
	works(t, first)
	works(t, second)
}

func TestTheStandbyWorkerReplacesTheWorker(t *testing.T) {
	leavesNothing(t)
	m := loadPuppet(t, provider.Config{Runner: newRunner(t, worker.Config{})}, well)
	standby := standbyOf(t)
	signal(t, unix.SIGKILL)
	works(t, m)
	if got := workerOf(t); got != standby {
		t.Errorf("got worker %d, want the standby worker, %d", got, standby)
	}
	if next := standbyOf(t); next == standby {
		t.Errorf("got standby worker %d, which is the worker", next)
	}
}

func TestAStandbyWorkerThatEndsIsReplaced(t *testing.T) {
	leavesNothing(t)
	log := &journal{}
	m := loadPuppet(t, provider.Config{Runner: newRunner(t, worker.Config{Logger: log.logger()})}, well)
	standby := standbyOf(t)
	if err := unix.Kill(standby, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return len(children(t)) == 1 }) // the parent has reaped it
	works(t, m)
	signal(t, unix.SIGKILL)
	works(t, m)
	if got := workerOf(t); got == standby {
		t.Errorf("the worker is %d, which has died", got)
	}
	// The parent may have reaped it a moment before it knows: then it finds out when it sends the start request.
	if text := log.String(); !strings.Contains(text, "standby worker lost") && !strings.Contains(text, "invalid") {
		t.Errorf("the parent has not noticed its death:\n%s", text)
	}
}

func TestAStandbyWorkerThatCannotBeStartedIsReplacedLater(t *testing.T) {
	takesLong(t)
	leavesNothing(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	m := loadPuppet(t, provider.Config{Runner: newRunner(t, worker.Config{Executable: program})}, well)
	standbyOf(t)
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	signal(t, unix.SIGKILL)
	works(t, m) // in the standby worker, which is the last there will be
	signal(t, unix.SIGKILL)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if got, err := read(ctx, m, "x:o"); err == nil {
		t.Errorf("got %q of a program that is not there", got)
	}
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	recovers(t, m)
}
