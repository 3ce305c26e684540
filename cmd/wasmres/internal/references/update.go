package references

import (
	"cmp"
	"fmt"
	"io"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/registry"
	"github.com/wasmres/wasmres/runtime"
)

// printUpdate says what differs between what a reference names and what it named before: version, signer and requested
// capabilities. It runs neither.
func printUpdate(w io.Writer, r registry.Reference, before, after *registry.Provider) {
	fmt.Fprintf(w, "%s names another module now:\n", printable.Line(r.String()))
	old, now := manifestOf(before), manifestOf(after)
	line := func(what, was, is string) {
		if was == is {
			fmt.Fprintf(w, "  %-9s %s, as before\n", what, printable.Line(is))
			return
		}
		fmt.Fprintf(w, "  %-9s %s, was %s\n", what, printable.Line(is), printable.Line(was))
	}
	line("digest", string(before.Module.Digest), string(after.Module.Digest))
	line("version", cmp.Or(old.Version, "unknown"), cmp.Or(now.Version, "unknown"))
	line("signer", cmp.Or(before.Verified.SignerNames(), "none"), cmp.Or(after.Verified.SignerNames(), "none"))
	more, less := approval.Difference(old, now)
	for _, request := range more {
		fmt.Fprintf(w, "  also requests to %s\n", request)
	}
	for _, request := range less {
		fmt.Fprintf(w, "  no longer requests to %s\n", request)
	}
	if len(more)+len(less) == 0 {
		fmt.Fprintln(w, "  requests  the same capabilities as before")
	}
}

// manifestOf returns the manifest in the module of a provider; an empty one if it has none that can be read.
func manifestOf(p *registry.Provider) *abi.Manifest {
	if p.File != "" {
		if info, err := runtime.InspectFile(p.File); err == nil && info.Manifest != nil {
			return info.Manifest
		}
	}
	return &abi.Manifest{}
}
