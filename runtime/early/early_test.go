package early_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime"
	_ "github.com/wasmres/wasmres/runtime/early"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

func TestMain(m *testing.M) {
	runtime.Main()
	os.Exit(m.Run())
}

// TestAChildInitialisesFewPackages starts a worker without a parent: it ends at once, with an error.
func TestAChildInitialisesFewPackages(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), program)
	child.Args, child.Env = []string{protocol.ProcessName}, []string{"GODEBUG=inittrace=1"}
	out, err := child.CombinedOutput()
	if err == nil {
		t.Error("a worker without a parent ended well")
	}
	trace := string(out)
	const wire, door = "init github.com/wasmres/wasmres/runtime/internal/worker/protocol @", "init github.com/wasmres/wasmres/runtime @"
	if !strings.Contains(trace, wire) || strings.Contains(trace, door) || strings.Contains(trace, "init net/http @") {
		t.Errorf("got %s\nwant the packages of a worker to be initialised, and none that only its parent needs", trace)
	}
}
