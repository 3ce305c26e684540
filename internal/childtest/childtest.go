// Package childtest runs the binary of a test again, as a child with a role, for tests that kill processes.
package childtest

import (
	"io"
	"os"
	"os/exec"
	"testing"
)

const roleKey = "WASMRES_TEST_ROLE"

// Role returns the role of this process; empty in the test itself. TestMain asks for it before it runs tests.
func Role() string { return os.Getenv(roleKey) }

// Start starts a child, whose os.Args[1] is dir. The child ends with the test at the latest. It writes to output, and to the
// standard error of the test. The caller reads all output, then calls end, which waits for the exit of the child. The test fails
// if the child does, unless the child was killed.
func Start(t *testing.T, role, dir string) (process *os.Process, output io.Reader, end func()) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, dir)
	cmd.Env = append(os.Environ(), roleKey+"="+role)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process, pipe, func() {
		t.Helper()
		if err := cmd.Wait(); err != nil && err.Error() != "signal: killed" {
			t.Errorf("%s: %v", role, err)
		}
	}
}
