package worker_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
)

// TestAProviderThatHasLetGoOfItsModuleGetsItAgain stops and kills workers while the folder of compiled modules loses
// more and more.
func TestAProviderThatHasLetGoOfItsModuleGetsItAgain(t *testing.T) {
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
			awaitStop(t, log, 1)
			if err := lose(dir); err != nil {
				t.Fatal(err)
			}
			works(t, m)
			awaitStop(t, log, 2)
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
