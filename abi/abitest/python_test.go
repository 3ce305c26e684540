package abitest_test

import (
	"testing"

	"github.com/wasmres/wasmres/abi/abitest"
	"github.com/wasmres/wasmres/internal/project"
)

const pythonKit = "../../testdata/wasm/kit-python"

// TestPythonGuest holds the Python SDK to the kit, and shows its decoder what no host would send.
func TestPythonGuest(t *testing.T) {
	guest := packed(t, pythonKit, project.Python)
	abitest.Run(t, guest)
	t.Run("cut requests", func(t *testing.T) { testCutRequests(t, guest) })
	t.Run("bad requests", func(t *testing.T) { testBadRequests(t, guest) })
}
