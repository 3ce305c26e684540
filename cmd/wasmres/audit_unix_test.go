//go:build unix

package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestAudit(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Files:         []string{"testdata/audit.txtar"},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}
