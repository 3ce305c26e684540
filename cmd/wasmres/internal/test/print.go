package test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/printable"
	recorded "github.com/wasmres/wasmres/internal/session"
)

// maxDiff is the number of lines printed of one difference.
const maxDiff = 200

// Print prints a result for a person.
func Print(w io.Writer, r Result) {
	status, detail := "ok  ", terminal.Counted(r.Steps, "step")
	if r.Failed() > 0 {
		status = "FAIL"
	}
	if r.Err != "" {
		fmt.Fprintf(w, "%s\n", printable.Text(r.Err))
		detail = "could not be run"
	}
	for _, f := range r.Failures {
		printStepFailure(w, r.File, f)
	}
	for _, c := range r.Crashes {
		fmt.Fprintf(w, "%s:%d: %s: the same again: %s\n", printable.Line(r.File), c.Line, printable.Line(c.Step), printable.Text(c.Err))
		if c.Inexact != "" {
			fmt.Fprintf(w, "    only the code was compared: %s\n", printable.Text(c.Inexact))
		}
	}
	if n := len(r.Failures); n > 0 {
		detail += fmt.Sprintf(", %d failed", n)
	}
	if r.Skipped > 0 {
		detail += fmt.Sprintf(", %d skipped", r.Skipped)
	}
	switch {
	case r.written && r.Changed > 0:
		detail += fmt.Sprintf(", %d recorded", r.Changed)
	case r.written:
		detail += ", none changed"
	}
	elapsed := time.Duration(r.Millis * float64(time.Millisecond)).Round(time.Millisecond)
	fmt.Fprintf(w, "%s  %s  %s  %v\n", status, printable.Line(r.File), detail, elapsed)
}

func printStepFailure(w io.Writer, file string, f recorded.Failure) {
	at := file
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d", file, f.Line)
	}
	fmt.Fprintf(w, "%s: %s: %s\n", printable.Line(at), printable.Line(f.Step), printable.Text(f.Problem))
	lines := strings.SplitAfter(f.Diff, "\n")
	for _, line := range lines[:min(len(lines), maxDiff)] {
		printDiffLine(w, strings.TrimSuffix(line, "\n"))
	}
	if len(lines) > maxDiff {
		fmt.Fprintf(w, "    … and %d more lines\n", len(lines)-maxDiff-1)
	}
}

// printDiffLine prints a line of a unified diff, in colour on a terminal unless NO_COLOR is set.
func printDiffLine(w io.Writer, line string) {
	if line == "" {
		return
	}
	colours := map[byte]string{'-': "\x1b[31m", '+': "\x1b[32m", '@': "\x1b[36m"}
	colour := colours[line[0]]
	if colour == "" || !terminal.IsStyled(w) {
		fmt.Fprintf(w, "    %s\n", printable.Line(line))
		return
	}
	fmt.Fprintf(w, "    %s%s\x1b[0m\n", colour, printable.Line(line))
}

// printTests prints the results as JSON or YAML.
func printTests(w io.Writer, format string, results []Result) error {
	failed := 0
	for _, r := range results {
		failed += r.Failed()
	}
	text, err := json.Marshal(struct {
		Failed   int      `json:"failed"`
		Sessions []Result `json:"sessions"`
	}{failed, results})
	if err != nil {
		return err
	}
	return cli.PrintData(w, format, text)
}
