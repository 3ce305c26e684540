// Package symbol reads the names of a module's functions, for reports of crashes.
//
// It owns how names are made readable. Names are untrusted: nothing may depend on them, and reading one takes time linear
// in its length.
package symbol

import (
	"strings"
	"unicode"

	"github.com/wasmres/wasmres/runtime/wasm"
)

// Names has the linker names of the functions of one module, by index.
type Names map[uint32]string

// Read returns the names in the name section of a module, which may be malformed, of functions with an index below
// functions; none when there is no such section.
func Read(module []byte, functions uint32) (Names, error) {
	return wasm.FunctionNames(module, functions)
}

// longest is the most bytes of a readable name.
const longest = 256

// Of returns the name of a function, demangled if possible, on one line of at most 256 bytes; empty when it has none.
func (n Names) Of(function uint32) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, readable(n[function]))
	return strings.ToValidUTF8(name[:min(len(name), longest)], "")
}
