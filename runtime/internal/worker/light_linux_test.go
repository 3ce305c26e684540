package worker_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/instance"
	"github.com/wasmres/wasmres/runtime/internal/module"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
	"github.com/wasmres/wasmres/runtime/internal/worker/live"
)

// TestAProviderThatHasLetGoOfItsModuleGetsItAgain stops and kills workers while the folder of compiled modules loses
// more and more.
func TestAProviderThatHasLetGoOfItsModuleGetsItAgain(t *testing.T) {
	takesLong(t)
	for name, lose := range map[string]func(dir string) error{
		"nothing":            func(string) error { return nil },
		"what is prepared":   func(dir string) error { return removeAll(dir, "*.prepared") },
		"what is compiled":   func(dir string) error { return removeAll(dir, "*[0-9a-f]") },
		"all of the modules": func(dir string) error { return removeAll(dir, "*") },
	} {
		t.Run(name, func(t *testing.T) {
			leavesNothing(t)
			dir, log := t.TempDir(), &journal{}
			c, err := compiler.New(compiler.Config{CacheDir: dir})
			if err != nil {
				t.Fatal(err)
			}
			m := load(t, provider.Config{
				Runner: newRunnerIn(t, dir, worker.Config{Idle: 100 * time.Millisecond, Logger: log.debug()}), Limits: patient, ModuleCache: c,
				Source: func() ([]byte, error) { return wat(t, "faults.wasm"), nil },
			}, wat(t, "faults.wasm"))
			awaitStop(t, log)
			if err := lose(dir); err != nil {
				t.Fatal(err)
			}
			works(t, m)
			awaitStop(t, log)
			works(t, m)
		})
	}
}

func removeAll(dir, pattern string) error {
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	for _, file := range files {
		if err := os.RemoveAll(file); err != nil {
			return err
		}
	}
	return err
}

// TestAStartThatWaitsHoldsNoModule opens a module while all places of workers are taken.
func TestAStartThatWaitsHoldsNoModule(t *testing.T) {
	leavesNothing(t)
	dir := t.TempDir()
	c, err := compiler.New(compiler.Config{CacheDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	group := newGroup(t, live.Config{Max: 1})
	r := newRunnerIn(t, dir, worker.Config{Live: group})
	running, end := make(chan struct{}), make(chan struct{})
	busy := loadPuppet(t, provider.Config{Runner: r, Limits: patient}, func(ctx context.Context, n int, req *abi.Request) guesttest.Step {
		if n == 0 {
			close(running)
			<-end
		}
		return well(ctx, n, req)
	})
	var call sync.WaitGroup
	call.Go(func() { works(t, busy) })
	<-running
	m, err := module.Instrument(&module.Config{
		Imports: instance.Imports(), Cache: c, Source: func() ([]byte, error) { return wat(t, "faults.wasm"), nil },
	}, wat(t, "faults.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	limits, err := patient.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	h, err := guest.NewHost(guest.Config{Module: m, Limits: limits, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if h.Module.IsLight() {
		t.Fatal("the module is light before it is opened")
	}
	var opening sync.WaitGroup
	opening.Go(func() {
		g, err := r.Open(t.Context(), h)
		if err != nil {
			t.Error(err)
			return
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	eventually(t, func() bool { return group.Stats().Waiting == 1 })
	if !h.Module.IsLight() {
		t.Error("a start that waits holds code and data of its module")
	}
	close(end)
	call.Wait()
	opening.Wait()
}
