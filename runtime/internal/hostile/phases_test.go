//go:build linux

package hostile_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/guest"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/attack"
	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// longEnv has the tests make the attacks as well that are much like others.
const longEnv = "WASMRES_HOSTILE_LONG"

// manyModules are more than any case has whose modules differ by more than one byte.
const manyModules = 200

// modulesOf returns the modules of a case. Where each takes a process of its own and there are very many, it returns one third of
// them, unless longEnv is set: a case with each byte changed in three ways then has each byte changed in one of them, in turn.
func modulesOf(c hostile.Case) (modules [][]byte) {
	all := c.Modules()
	if len(all) < manyModules || os.Getenv(longEnv) != "" {
		return all
	}
	for i, m := range all {
		if i%3 == i/3%3 {
			modules = append(modules, m)
		}
	}
	return modules
}

// lenient is how long the parent lets a call overrun its deadline before it kills the worker. It is longer than what the
// bounds of a case allow, so that a worker which does not stop its guest by itself fails the test.
const lenient = 2 * time.Second

// generated are the generated cases of a phase.
func generated(phase hostile.Phase) (cases []hostile.Case) {
	for _, c := range hostile.Generated(os.Getenv(longEnv) != "") {
		if hostile.PhaseOf(c) == phase && wanted(c) {
			cases = append(cases, c)
		}
	}
	return cases
}

func TestProvidersThatAttackInOnePhaseAreStopped(t *testing.T) {
	alone(t)
	for _, phase := range hostile.Phases() {
		t.Run(string(phase), func(t *testing.T) { judgeAll(t, generated(phase)) })
	}
}

// TestProvidersThatAttackInOnePhaseAreStoppedInAWorker makes the same attacks in workers, one after the other, while a
// tenant reads from a provider of its own.
func TestProvidersThatAttackInOnePhaseAreStoppedInAWorker(t *testing.T) {
	alone(t)
	run, honest := neighbours(t, lenient)
	for _, phase := range hostile.Phases() {
		t.Run(string(phase), func(t *testing.T) {
			for _, c := range generated(phase) {
				t.Run(c.Name, func(t *testing.T) { attackInWorker(t, run, c, honest) })
			}
		})
	}
}

// A precompiler compiles modules in this process, each once and into a folder of its own below dir. That is quicker than in a
// process of its own, and the compiler is not what is attacked. It is safe for concurrent use.
type precompiler struct {
	dir      string
	compiled sync.Map // of func() error, by folder
}

func (p *precompiler) folder(binary []byte) string {
	return filepath.Join(p.dir, fmt.Sprintf("%x", sha256.Sum256(binary)))
}

func (p *precompiler) compile(ctx context.Context, binary []byte, _ func() ([]byte, error)) (string, error) {
	dir := p.folder(binary)
	compiled, _ := p.compiled.LoadOrStore(dir, sync.OnceValue(func() error {
		return errors.Join(os.Mkdir(dir, 0o700), enginetest.Kind().InWorker().Precompile(ctx, dir, binary))
	}))
	return dir, compiled.(func() error)()
}

func (p *precompiler) forget(binary []byte) error {
	dir := p.folder(binary)
	p.compiled.Delete(dir)
	return os.RemoveAll(dir)
}

// attackInWorker runs a generated case and judges it as the parent sees it.
func attackInWorker(t *testing.T, run guest.Runner, c hostile.Case, honest *tenant) {
	idle, read := attack.WatchClock(), honest.n.Load()
	resetPeak()
	before := resident()
	var log counter
	a := attack.New(c, provider.Config{
		Runner: run, Limits: attack.LimitsOf(c), Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Services: capability.Services{abi.ServiceConfig: capability.Config{"k": "v"}},
	})
	r := report{Case: c.Name, Modules: 1}
	if m := a.Load(c.Modules()[0]); m != nil {
		a.Ask(m)
		a.ReadAfter(m, startUp)
		r.Peak = largestWorker()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	if grew := peak() - before; grew > processPeak {
		t.Errorf("the parent grew by %d bytes, at most %d are allowed", grew, processPeak)
	}
	r.Outcome, r.Log = a.Outcome, log.n
	noise := idle.Stop()
	for deadline := time.Now().Add(startUp); honest.n.Load() == read && time.Now().Before(deadline); {
		<-time.After(pace)
	}
	if honest.n.Load() == read {
		t.Error("the tenant was not answered")
	}
	judge(t, c, verdict{report: r, noise: noise})
}

// largestWorker is the most resident memory, in bytes, that any worker has had that lives.
func largestWorker() (most int64) {
	for _, pid := range descendants("self") {
		if name, _ := os.ReadFile("/proc/" + pid + "/cmdline"); strings.HasPrefix(string(name), "wasmres-worker") {
			most = max(most, status(pid, "VmHWM:"))
		}
	}
	return most
}

// descendants are the children of a process, and theirs.
func descendants(pid string) (all []string) {
	lists, _ := filepath.Glob("/proc/" + pid + "/task/*/children")
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, child := range strings.Fields(string(text)) {
			all = append(append(all, child), descendants(child)...)
		}
	}
	return all
}
