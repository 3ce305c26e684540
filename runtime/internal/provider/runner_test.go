package provider_test

import (
	"log/slog"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/engine/engines"
	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/pool"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/worker"
	"github.com/wasmres/wasmres/runtime/internal/worker/child"
)

func TestMain(m *testing.M) {
	compiler.Main()
	child.Main()
	m.Run()
}

// patience is how long a test waits for something that should happen at once: the machine may be busy.
const patience = 20 * time.Second

// both runs a test with each kind of runner.
func both(t *testing.T, test func(t *testing.T, run guest.Runner)) {
	t.Run("in-process", func(t *testing.T) { test(t, pool.InProcess{Engine: openEngine(t)}) })
	if goruntime.GOOS == "linux" {
		t.Run("process", func(t *testing.T) { test(t, workers(t, nil)) })
	}
}

// workers runs guests in processes of their own.
func workers(tb testing.TB, logger *slog.Logger) *worker.Runner {
	tb.Helper()
	return workersOn(tb, enginetest.Kind().InWorker(), logger)
}

// workersOn is workers on an engine.
func workersOn(tb testing.TB, kind engines.Kind, logger *slog.Logger) *worker.Runner {
	tb.Helper()
	dir := guesttest.CacheDir(tb)
	c, err := compiler.New(compiler.Config{Engine: kind, CacheDir: dir})
	if err != nil {
		tb.Fatal(err)
	}
	r, err := worker.New(worker.Config{NativeCode: worker.NativeCode{Engine: kind, Compile: c.FolderOf, Invalidate: c.Invalidate}, Grace: patience, Logger: logger})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// logging gives a runner of the same kind, whose workers log to the same logger.
func logging(tb testing.TB, run guest.Runner, logger *slog.Logger) guest.Runner {
	if _, ok := run.(*worker.Runner); ok {
		return workers(tb, logger)
	}
	return run
}

// eventually waits until a condition holds. It leaves the processor to others between two looks.
func eventually(tb testing.TB, happened func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(patience); !happened(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatal("it did not happen")
		}
	}
}
