package worker_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
	"github.com/wasmres/wasmres/runtime/internal/worker/live"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// patient bounds calls for a busy machine.
var patient = limits.Limits{Timeout: patience}

// loadIdle loads a provider on a runner that stops its worker after a time without calls.
func loadIdle(t *testing.T, idle time.Duration) (*provider.Provider, *journal) {
	t.Helper()
	log := &journal{}
	r := newRunner(t, worker.Config{Idle: idle, Logger: log.debug()})
	return load(t, provider.Config{Runner: r, Limits: patient}, wat(t, "faults.wasm")), log
}

// awaitStop waits until only the standby worker is left: the parent has noted that each worker was stopped, of which it has noted
// all starts but the first. A busy machine may take so long to make the next call that one more is stopped before it.
func awaitStop(t *testing.T, log *journal) {
	t.Helper()
	eventually(t, func() bool {
		text := log.String()
		return strings.Count(text, "worker stopped") == strings.Count(text, "worker started")+1 && len(workers(t)) == 1
	})
}

// noExits fails the test if the parent has counted an exit.
func noExits(t *testing.T, log *journal) {
	t.Helper()
	if text := log.String(); strings.Contains(text, "level=WARN") {
		t.Errorf("got warnings:\n%s", text)
	}
}

func TestAProviderThatIsNotCalledHasNoProcess(t *testing.T) {
	leavesNothing(t)
	m, log := loadIdle(t, 100*time.Millisecond)
	info := m.Info()
	for range 2 {
		works(t, m)
		awaitStop(t, log)
		m.EndSession("a")
		m.AfterResponse()
		if got := m.Info(); got != info {
			t.Errorf("got %+v without a process, want %+v", got, info)
		}
	}
	noExits(t, log)
}

// TestALazyProviderStartsWithItsFirstCall has a module with a manifest, and one that must be asked for it.
func TestALazyProviderStartsWithItsFirstCall(t *testing.T) {
	for name, packed := range map[string]bool{"packed": true, "asked": false} {
		t.Run(name, func(t *testing.T) {
			leavesNothing(t)
			binary, group := wat(t, "faults.wasm"), newGroup(t, live.Config{})
			if packed {
				manifest := abi.Manifest{Name: "lazy", Ops: 1 << abi.OpRead}
				var err error
				if binary, err = wasm.WithCustom(binary, abi.ManifestSection, manifest.Append(nil)); err != nil {
					t.Fatal(err)
				}
			}
			c, err := compiler.New(compiler.Config{CacheDir: guesttest.CacheDir(t)})
			if err != nil {
				t.Fatal(err)
			}
			m := load(t, provider.Config{
				Runner: newRunner(t, worker.Config{Live: group}), Limits: patient, Lazy: true, ModuleCache: c,
				Source: func() ([]byte, error) { return binary, nil },
			}, binary)
			if got := group.Stats().Starts; got != 0 == packed {
				t.Fatalf("%d starts before the first call", got)
			}
			m.EndSession("a")
			works(t, m)
			works(t, m)
			if got := group.Stats().Starts; got != 1 {
				t.Errorf("%d starts, want one", got)
			}
		})
	}
}

func TestALazyProviderThatIsNotCalledIsClosed(t *testing.T) {
	leavesNothing(t)
	manifest := abi.Manifest{Name: "lazy", Ops: 1 << abi.OpRead}
	binary, err := wasm.WithCustom(wat(t, "faults.wasm"), abi.ManifestSection, manifest.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	load(t, provider.Config{Runner: newRunner(t, worker.Config{}), Lazy: true}, binary)
}

func TestManyCallsOfAStoppedProviderShareOneStart(t *testing.T) {
	leavesNothing(t)
	m, log := loadIdle(t, time.Second)
	awaitStop(t, log)
	var callers sync.WaitGroup
	for range 100 {
		callers.Go(func() { works(t, m) })
	}
	callers.Wait()
	if got := strings.Count(log.String(), `msg="worker started"`); got != 1 {
		t.Errorf("%d starts, want 1:\n%s", got, log)
	}
	noExits(t, log)
}

// TestStopsAndCallsAtOnce stops the worker whenever no call uses it.
func TestStopsAndCallsAtOnce(t *testing.T) {
	leavesNothing(t)
	m, log := loadIdle(t, 1)
	var callers sync.WaitGroup
	for range 2 {
		callers.Go(func() {
			eventually(t, func() bool {
				m.EndSession("a")
				works(t, m)
				return strings.Count(log.String(), "worker stopped") >= 5
			})
		})
	}
	callers.Wait()
	noExits(t, log)
}

func TestAWorkerKilledAtRestIsReplacedForTheNextCall(t *testing.T) {
	leavesNothing(t)
	m, log := loadIdle(t, time.Hour)
	standby := standbyOf(t)
	signal(t, unix.SIGKILL)
	eventually(t, func() bool { return strings.Contains(log.String(), "worker ended") })
	if got := workers(t); len(got) != 1 || got[0] != standby {
		t.Errorf("workers %v, want the standby worker %d alone: no call wants another", got, standby)
	}
	works(t, m)
	if got := workerOf(t); got != standby {
		t.Errorf("got worker %d, want the standby worker %d", got, standby)
	}
}

// TestSessionsOutliveIdle has a provider with sessions beside one without, whose worker is stopped.
func TestSessionsOutliveIdle(t *testing.T) {
	leavesNothing(t)
	m, log := loadIdle(t, 100*time.Millisecond)
	manifest := abi.Manifest{Name: "counting", Ops: 1 << abi.OpRead, Limits: abi.ManifestLimits{Lifecycle: abi.LifecycleSession}}
	binary, err := wasm.WithCustom(wat(t, "faults.wasm"), abi.ManifestSection, manifest.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	r := newRunner(t, worker.Config{Idle: 1})
	counting := load(t, provider.Config{Runner: r, Limits: patient, Lifecycle: abi.LifecycleSession}, binary)
	for n := 1; n <= 3; n++ {
		var s sink
		_, err := counting.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:s", Session: "a"}, &s)
		if want := string(rune('0' + n)); err != nil || string(s.body) != want {
			t.Errorf("got %q, %v, want %q: the session goes on", s.body, err, want)
		}
		works(t, m)
		eventually(t, func() bool { return strings.Count(log.String(), "worker stopped") >= n })
	}
}
