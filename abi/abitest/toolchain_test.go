package abitest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// toolchain returns the path of the first of the named programs that is installed. Without one it skips the test and
// says how to install it; with WASMRES_TOOLCHAINS=all in the environment the test fails instead.
func toolchain(t *testing.T, install string, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing := "NOT TESTED: there is no " + strings.Join(names, ", no ") + "; to install it: " + install
	if os.Getenv("WASMRES_TOOLCHAINS") == "all" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// build runs a command in dir with env added to the environment, and fails the test with what the command said.
func build(t *testing.T, dir string, env []string, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), env...)
	cmd.WaitDelay = 5 * time.Second // for what the command has started and left
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build in %s: %v\n%s\n%s", dir, err, cmd, out)
	}
}
