package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wasmres/wasmres/internal/compiler"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/worker"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
)

func TestMain(m *testing.M) {
	compiler.Main()
	worker.Main()
	sqlcap.Main()
	testscript.Main(m, map[string]func(){
		"wasmres": runToEnd,
	})
}

func TestScripts(t *testing.T) {
	faults, err := filepath.Abs("../../testdata/wasm")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HELLO", guesttest.File(t, "hello"))
			env.Setenv("PROJECT", guesttest.File(t, "project"))
			env.Setenv("EVERYTHING", guesttest.File(t, "everything"))
			env.Setenv("MEMORY", guesttest.File(t, "memory"))
			env.Setenv("WEB", guesttest.File(t, "web"))
			env.Setenv("WASM", faults)
			env.Setenv("WASMRES_CACHE_DIR", guesttest.CacheDir(t))
			return nil
		},
	})
}
