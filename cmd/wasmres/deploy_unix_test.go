//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wasmres/wasmres/internal/guesttest"
)

// The scripts get hello.wasm, and again.wasm with the same code and another digest.
func TestDeploy(t *testing.T) {
	hello := guesttest.Binary(t, "hello")
	again := append(bytes.Clone(hello), 0, 6, 5, 'a', 'g', 'a', 'i', 'n')
	testscript.Run(t, testscript.Params{
		Files: []string{"testdata/deploy.txtar"},
		Setup: func(e *testscript.Env) error {
			if err := os.WriteFile(filepath.Join(e.WorkDir, "hello.wasm"), hello, 0o600); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(e.WorkDir, "again.wasm"), again, 0o600)
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}
