package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/lazyregexp"
	"github.com/wasmres/wasmres/internal/printable"
)

// PrintCrash prints why and where a provider crashed, for its author, if err has a crash in its chain.
func PrintCrash(w io.Writer, err error) {
	crash := abi.CrashOf(err)
	if crash == nil {
		return
	}
	row := func(label, text string) { fmt.Fprintf(w, "  %-5s  %s\n", label, printable.Line(text)) }
	row("why", reasonOf(crash))
	if hasTrace(crash.LastLines) {
		return
	}
	label, named := "in", false
	for _, f := range crash.Stack {
		row(label, f.String())
		label, named = "", named || f.Name != ""
	}
	if len(crash.Stack) > 0 && !named {
		row("", "('wasmres build' keeps names, in NAME.debug.wasm beside the provider)")
	}
	if crash.Fuel > 0 {
		row("fuel", fmt.Sprint(crash.Fuel))
	}
}

// reasonOf says why a provider crashed. Languages compile a panic to the instruction unreachable.
func reasonOf(crash *abi.Crash) string {
	switch {
	case crash.Reason != "unreachable":
		return crash.Reason
	case hasTrace(crash.LastLines):
		return "it stopped itself, as it says above"
	}
	return "it stopped itself, as after a panic or a failed assertion (unreachable)"
}

// SourceLine matches a line of a source file, as stack traces have it.
var SourceLine = lazyregexp.New(`[\w./@()-]+\.(?:go|rs|c|h|py|[cm]?[tj]s):[0-9]+`)

// hasTrace reports whether lines that a provider printed have a stack trace.
func hasTrace(lines []string) bool { return slices.ContainsFunc(lines, SourceLine.MatchString) }
