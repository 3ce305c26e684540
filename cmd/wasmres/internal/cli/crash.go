package cli

import (
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/printable"
)

// PrintCrash shows the author of a provider where it was when it failed. There is nothing to show of other failures.
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

// reasonOf says why a provider crashed, in the words of its author.
func reasonOf(crash *abi.Crash) string {
	switch {
	case crash.Reason != "unreachable":
		return crash.Reason
	case hasTrace(crash.LastLines):
		return "it stopped itself, as it says above"
	}
	return "it stopped itself, as after a panic or a failed assertion (unreachable)"
}

// SourceLine finds a place in a source, as languages write it in the trace of a panic.
var SourceLine = regexp.MustCompile(`[\w./@()-]+\.(?:go|rs|c|h|ts|js):[0-9]+`)

// hasTrace reports whether a provider has said itself where it was.
func hasTrace(said []string) bool { return slices.ContainsFunc(said, SourceLine.MatchString) }
