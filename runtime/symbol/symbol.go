// Package symbol reads what the functions of a module are called, for people who look into a failure.
//
// It owns how names are made readable, and is the door to the demangler. The runtime imports it. Names are whatever who
// built the module wanted them to be: nothing must depend on them.
package symbol

import (
	"strings"
	"unicode"

	"github.com/ianlancetaylor/demangle"

	"github.com/wasmres/wasmres/runtime/wasm"
)

// Names are those of the functions of one module, by index, as linkers know them.
type Names map[uint32]string

// Read gives the names in the name section of a module, which is not believed to be well-formed, of functions with an
// index below functions; none when there is no such section.
func Read(module []byte, functions uint32) (Names, error) {
	return wasm.FunctionNames(module, functions)
}

// longest is the characters of a readable name, as a power of two.
const longest = 8

// Of gives the name of a function as its author wrote it, on one line of at most 256 bytes; empty when it has none.
func (n Names) Of(function uint32) string {
	name := demangle.Filter(n[function], demangle.NoParams, demangle.NoTemplateParams, demangle.MaxLength(longest))
	name = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, name)
	return strings.ToValidUTF8(name[:min(len(name), 1<<longest)], "")
}
