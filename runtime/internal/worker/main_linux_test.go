package worker_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/process"
	"github.com/wasmres/wasmres/runtime/internal/snapshot"
	"github.com/wasmres/wasmres/runtime/internal/worker/child"
)

// TestMain makes of this program whatever it is started as. A worker has neither arguments nor an environment, so that
// what kind of worker it is to be is told by the name of its file.
func TestMain(m *testing.M) {
	compiler.Main()
	if program, err := os.Readlink("/proc/self/exe"); err == nil {
		if role, ok := strings.CutPrefix(filepath.Base(program), rolePrefix); ok {
			play(role)
		}
	}
	child.Main()
	process.ForkServer() // what starts processes never ends
	snapshot.Probe()     // opens what stays open
	m.Run()
}

const rolePrefix = "worker-that-"

// play does not come back.
func play(role string) {
	if role == "tries" {
		child.MainWith(child.Hooks{Sealed: try})
	}
	if err := lie(role); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// roleOf returns this program as the file of a worker that plays a role. Beside it there may be others.
func roleOf(t *testing.T, role string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), rolePrefix+role)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if os.Link(self, file) == nil {
		return file
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}
