package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/guesttest"
)

// TestInstall installs providers into the configurations of clients of a user of its own.
func TestInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("opens providers")
	}
	testscript.Run(t, testscript.Params{
		Files:         []string{"testdata/install.txtar"},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			program, err := exec.LookPath("wasmres")
			env.Setenv("PROGRAM", program)
			env.Setenv("HELLO", guesttest.File(t, "hello"))
			env.Setenv("PROJECT", guesttest.File(t, "project"))
			env.Setenv("HOME", env.WorkDir+"/home")
			env.Setenv("XDG_CACHE_HOME", guesttest.CacheDir(t))
			env.Setenv("GORACE", os.Getenv("GORACE"))
			return err
		},
	})
}

// TestHelpOfInstallIsShort keeps the help on one screen.
func TestHelpOfInstallIsShort(t *testing.T) {
	for _, name := range []string{"install", "uninstall"} {
		var out bytes.Buffer
		if status := Main(t.Context(), []string{"wasmres", name, "--help"}, nil, &out, &out); status != cli.StatusOK {
			t.Fatalf("status %d: %s", status, &out)
		}
		if lines := strings.Count(out.String(), "\n"); lines > 40 {
			t.Errorf("%s: %d lines, want at most 40", name, lines)
		}
	}
}
