package main

import (
	"bytes"
	"testing"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal/terminaltest"
	command "github.com/wasmres/wasmres/cmd/wasmres/internal/test"
	recorded "github.com/wasmres/wasmres/internal/session"
)

func TestReportOfTestsEscapesText(t *testing.T) {
	const text = terminaltest.Hostile
	var out bytes.Buffer
	command.Print(&out, command.Result{Report: recorded.Report{Failures: []recorded.Failure{{Step: text, Problem: text, Diff: text}}}})
	terminaltest.CheckEscaped(t, out.String())
}
