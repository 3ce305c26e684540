package abitest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wasmres/wasmres/abi/abitest"
)

// TestModule holds a module to the kit that was built with another SDK:
//
//	WASMRES_KIT=/path/to/kit.wasm go test ./abi/abitest -run TestModule
//
// A path that is not absolute begins at the folder of this package.
func TestModule(t *testing.T) {
	file := os.Getenv("WASMRES_KIT")
	if file == "" {
		t.Skip("WASMRES_KIT names no module")
	}
	abitest.Run(t, load(t, filepath.FromSlash(file), false))
}
