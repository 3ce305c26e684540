//go:build linux

package hostile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
)

const (
	serviceTimeout = 200 * time.Millisecond // of a call
	serviceTries   = 3                      // of which one must not be late: the whole machine may be
	serviceRows    = 4                      // that are tried at once
)

// serviceLate is by how much a call may end after its deadline.
func serviceLate() time.Duration {
	if raceEnabled {
		return 500 * time.Millisecond
	}
	return 100 * time.Millisecond
}

// A serviceRow is one behaviour of what a capability depends on.
type serviceRow struct {
	capability, behaviour string
	open                  func(t *testing.T, b *backends) attacked
}

// An attacked capability is open until the end of the test.
type attacked struct {
	services capability.Services
	ask      []guesttest.Step // of one call of the guest
	release  func()           // ends what hangs; nil for nothing
	answers  bool             // the call must succeed: the behaviour ends before the deadline
}

// TestHostileServicesDoNotHoldACall makes one call after the other of a guest in a worker whose services misbehave. Each
// call ends by its deadline and 100 ms, gives its slot back, and leaves nothing when the service has ended.
func TestHostileServicesDoNotHoldACall(t *testing.T) {
	alone(t)
	b := startBackends(t)
	c, err := compiler.New(compiler.Config{Engine: enginetest.Kind().InWorker(), CacheDir: guesttest.CacheDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	run, err := worker.New(worker.Config{NativeCode: worker.NativeCode{Engine: enginetest.Kind().InWorker(), Compile: c.FolderOf, Invalidate: c.Invalidate}})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("warm up", func(t *testing.T) { tryService(t, run, b, serviceRow{"env", "flood", floodEnv}) })
	before := count()
	var mu sync.Mutex
	var table []string
	t.Run("rows", func(t *testing.T) {
		places := make(chan struct{}, serviceRows)
		for _, row := range serviceCases() {
			t.Run(row.capability+" "+row.behaviour, func(t *testing.T) {
				t.Parallel()
				places <- struct{}{}
				defer func() { <-places }()
				code, took := tryService(t, run, b, row)
				mu.Lock()
				defer mu.Unlock()
				table = append(table, fmt.Sprintf("| %s | %s | `%s` | %d ms |", row.capability, row.behaviour, code, took.Milliseconds()))
			})
		}
	})
	slices.Sort(table)
	t.Logf("with a deadline of %v:\n| capability | behaviour | code | time to return |\n|---|---|---|---|\n%s", serviceTimeout, strings.Join(table, "\n"))
	if now := settled(before); now.goroutines > before.goroutines || now.files > before.files || now.children > before.children {
		t.Errorf("left behind: %v, there were %v", now, before)
	}
}

// tryService returns how a call ended, and the shortest time that it took of some tries.
func tryService(t *testing.T, run guest.Runner, b *backends, row serviceRow) (code abi.Code, took time.Duration) {
	t.Helper()
	a := row.open(t, b)
	m := loadAttacked(t, run, a)
	for range serviceTries {
		began := time.Now()
		_, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:service"}, discard{})
		if d := time.Since(began); took == 0 || d < took {
			code, took = abi.CodeOf(err), d
		}
		if a.answers && err != nil && abi.CodeOf(err) != abi.CodeDeadline {
			t.Errorf("got %v, want an answer", err)
		}
		if err := readNothing(t, m); err != nil {
			t.Errorf("the next call got %v: the slot is not free", err)
		}
		if took <= serviceTimeout+serviceLate() && (code == abi.CodeOK || !a.answers) {
			break
		}
	}
	if took > serviceTimeout+serviceLate() {
		t.Errorf("the call returned after %v, want %v at most", took, serviceTimeout+serviceLate())
	}
	if a.answers && code != abi.CodeOK {
		t.Errorf("got %v, want an answer", code)
	}
	if a.release != nil {
		a.release()
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	return code, took
}

// readNothing makes a call that asks no service. It may be late for other reasons than a slot.
func readNothing(t *testing.T, m *provider.Provider) (err error) {
	for range 2 * serviceTries {
		if _, err = m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:nothing"}, discard{}); err == nil {
			return nil
		}
	}
	return err
}

// loadAttacked loads a guest of which one call may run at once. It asks what a says when x:service is read.
func loadAttacked(t *testing.T, run guest.Runner, a attacked) *provider.Provider {
	t.Helper()
	p := &guesttest.Puppet{
		Manifest: abi.Manifest{Name: "puppet", Ops: 1 << abi.OpRead},
		Next: func(_ context.Context, _ abi.Op, n int, req *abi.Request) guesttest.Step {
			steps := []guesttest.Step{guesttest.Emit((&abi.Content{URI: req.URI, Kind: abi.KindText, Inline: []byte("fine")}).Append(nil))}
			if req.URI == "x:service" {
				steps = append(slices.Clone(a.ask), steps...)
			}
			if n < len(steps) {
				return steps[n]
			}
			return guesttest.Return(abi.CodeOK)
		},
	}
	services := capability.Services{abi.ServiceConfig: p}
	for id, s := range a.services {
		if id == abi.ServiceConfig { // is how the puppet hears what to do
			id = abi.ServiceKVGet
		}
		services[id] = s
	}
	m, err := provider.Open(t.Context(), provider.Config{
		Runner: run, Services: services, Limits: limits.Limits{Timeout: serviceTimeout, Calls: 1},
	}, p.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	return m
}
