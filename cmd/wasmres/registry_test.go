package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/registryserver"
)

// TestRegistry publishes, signs and runs providers with a real registry.
func TestRegistry(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a registry")
	}
	host, _ := registryserver.Start(t, registryserver.Options{})
	path := scriptPath(t)
	testscript.Run(t, testscript.Params{
		Files: []string{"testdata/registry.txtar"},
		Setup: func(env *testscript.Env) error {
			env.Setenv("REGISTRY", host)
			env.Setenv("HELLO", guesttest.File(t, "hello"))
			env.Setenv("PROJECT", guesttest.File(t, "project"))
			env.Setenv("PATH", path)
			env.Setenv("WASMRES_CACHE_DIR", guesttest.CacheDir(t))
			env.Setenv("WASMRES_KEY_PASSPHRASE", "correct horse")
			env.Setenv("HOME", env.WorkDir+"/home")
			env.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
	})
}
