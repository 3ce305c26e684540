//go:build linux

package hostile_test

import (
	"flag"
	"os"
	"testing"

	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/process"
	"github.com/wasmres/wasmres/runtime/internal/worker/child"
)

// TestMain makes this binary the three programs it needs beside the tests.
func TestMain(m *testing.M) {
	flood() // when this is the worker that floods its parent

	compiler.Main()                                // before anything else: it is the compiler that children start
	child.MainWith(child.Hooks{Engine: unmetered}) // and the worker, which here runs modules as they are
	sqlcap.Main()                                  // and the SQLite helper
	process.ForkServer()                           // has what starts processes begin, which never ends
	if names, ok := os.LookupEnv(childEnv); ok {
		os.Exit(childMain(names))
	}
	os.Exit(m.Run())
}

// alone skips a test with -short, where other packages are tested beside it: its bounds are those of a clock, or of what
// the machine has left.
func alone(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it needs the machine for itself")
	}
}

// only makes the tests run cases by name, of all there are.
var only = flag.String("case", "", "run this case only")

// childEnv tells this binary, which runs itself again, that it is a child, and the names of its cases.
const childEnv = "WASMRES_HOSTILE_CASES"
