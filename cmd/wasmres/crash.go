package main

import (
	"fmt"
	"io"

	"github.com/wasmres/wasmres/runtime"
)

// printCrash shows the author of a provider where it was when it failed. There is nothing to show of other failures.
func printCrash(w io.Writer, err error) {
	crash := runtime.CrashOf(err)
	if crash == nil {
		return
	}
	row := func(label, text string) { fmt.Fprintf(w, "  %-5s  %s\n", label, steady(text)) }
	row("why", crash.Reason)
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
