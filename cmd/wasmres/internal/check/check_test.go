package check

import (
	"bytes"
	"testing"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal/terminaltest"
	"github.com/wasmres/wasmres/internal/check"
)

func TestReportEscapesText(t *testing.T) {
	finding := check.Finding{Rule: check.Rules()[0].Name, Where: terminaltest.Hostile, Problem: terminaltest.Hostile}
	var out bytes.Buffer
	if err := printReport(&out, cli.FormatTable, &check.Report{Findings: []check.Finding{finding}}); err != nil {
		t.Fatal(err)
	}
	terminaltest.CheckEscaped(t, out.String())
}
