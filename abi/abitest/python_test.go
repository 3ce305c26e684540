package abitest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wasmres/wasmres/abi/abitest"
	"github.com/wasmres/wasmres/internal/project"
)

const pythonKit = "../../testdata/wasm/kit-python"

// TestPythonGuest holds the Python SDK to the kit, and shows its decoder what no host would send.
func TestPythonGuest(t *testing.T) {
	guest := python(t, pythonKit)
	abitest.Run(t, guest)
	t.Run("cut requests", func(t *testing.T) { testCutRequests(t, guest) })
	t.Run("bad requests", func(t *testing.T) { testBadRequests(t, guest) })
}

// python builds the provider in a folder and loads it. That takes no tools.
func python(t *testing.T, dir string) abitest.Guest {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles the engine")
	}
	module, err := project.Build(t.Context(), dir, project.Python, nil)
	if err != nil {
		t.Fatal(err)
	}
	wasm := filepath.Join(t.TempDir(), "guest.wasm")
	if err := os.WriteFile(wasm, module.Binary, 0o600); err != nil {
		t.Fatal(err)
	}
	return load(t, wasm, true)
}
