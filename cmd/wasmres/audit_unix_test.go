//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wasmres/wasmres/internal/admin/admintest"
)

func TestAudit(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Files: []string{"testdata/audit.txtar"},
		Setup: func(e *testscript.Env) error {
			e.Setenv("SOCKET", admintest.Validate(t, filepath.Join(e.WorkDir, "files/data/admin.sock")))
			return nil
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}
