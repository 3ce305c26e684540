package test

import (
	"bytes"
	"testing"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal/terminaltest"
	recorded "github.com/wasmres/wasmres/internal/session"
)

func TestPrintEscapesText(t *testing.T) {
	const text = terminaltest.Hostile
	var out bytes.Buffer
	Print(&out, Result{Report: recorded.Report{Failures: []recorded.Failure{{Step: text, Problem: text, Diff: text}}}})
	terminaltest.CheckEscaped(t, out.String())
}
