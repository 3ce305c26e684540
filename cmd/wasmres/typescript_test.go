package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/internal/sourcetree"
)

// TestTypeScript builds providers in TypeScript that use packages, and makes them fail.
func TestTypeScript(t *testing.T) {
	if testing.Short() {
		t.Skip("builds projects")
	}
	modules := guesttest.NodeModules(t, project.TypeScript)
	path := scriptPath(t)
	testscript.Run(t, testscript.Params{
		Files: []string{"testdata/typescript.txtar", "testdata/web.txtar", "testdata/mcp.txtar"},
		Setup: func(env *testscript.Env) error {
			env.Setenv("SDK", filepath.Join(sourcetree.Root(), "guest-sdk"))
			env.Setenv("PATH", path)
			env.Setenv("WASMRES_CACHE_DIR", guesttest.CacheDir(t))
			env.Setenv("GORACE", os.Getenv("GORACE"))
			return os.Symlink(modules, filepath.Join(env.WorkDir, "node_modules"))
		},
	})
}
