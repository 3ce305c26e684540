package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
)

func TestMain(m *testing.M) {
	runtime.Main()
	sqlcap.Main()
	testscript.Main(m, map[string]func(){
		"wasmres": runUntilKilled,
	})
}

// briefScripts run with testing.Short as well. They take seconds together and go through every layer.
var briefScripts = []string{"help", "look", "errors"}

func TestScripts(t *testing.T) {
	faults, err := filepath.Abs("../../testdata/wasm")
	if err != nil {
		t.Fatal(err)
	}
	path := scriptPath(t)
	testscript.Run(t, testscript.Params{
		Files:         scriptFiles(t),
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Condition: func(name string) (bool, error) {
			if name == "wasmtime" {
				return slices.Contains(runtime.Engines(), name), nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Setup: func(env *testscript.Env) error {
			for _, example := range []string{"hello", "project", "everything", "memory", "skills", "web"} {
				env.Setenv(strings.ToUpper(example), guesttest.File(t, example))
			}
			env.Setenv("PATH", path)
			env.Setenv("WASM", faults)
			env.Setenv("WASMRES_CACHE_DIR", guesttest.CacheDir(t))
			env.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
	})
}

// scriptPath returns the PATH of scripts. The program that make build makes comes first: it takes two thirds of the processor time of
// this binary to start. Brief scripts run this binary, for which make quick links no other, and so do all where it has a second engine.
func scriptPath(t *testing.T) string {
	t.Helper()
	path := os.Getenv("PATH")
	if testing.Short() || len(runtime.Engines()) > 1 {
		return path
	}
	return filepath.Dir(guesttest.Program(t)) + string(filepath.ListSeparator) + path
}

// scriptFiles returns the files of the scripts to run.
func scriptFiles(t *testing.T) (files []string) {
	t.Helper()
	if testing.Short() {
		for _, name := range briefScripts {
			files = append(files, filepath.Join("testdata", "script", name+".txtar"))
		}
		return files
	}
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) < len(briefScripts) {
		t.Fatalf("got %d scripts, %v", len(files), err)
	}
	return files
}
