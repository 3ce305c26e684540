// Package symbol reads what the functions of a module are called, for people who look into a failure.
//
// It owns how names are made readable. The runtime imports it. Names are whatever who built the module wanted them to
// be: nothing must depend on them, and reading one takes no more time than it is long.
package symbol

import (
	"strings"
	"unicode"

	"github.com/wasmres/wasmres/runtime/wasm"
)

// Names are those of the functions of one module, by index, as linkers know them.
type Names map[uint32]string

// Read gives the names in the name section of a module, which is not believed to be well-formed, of functions with an
// index below functions; none when there is no such section.
func Read(module []byte, functions uint32) (Names, error) {
	return wasm.FunctionNames(module, functions)
}

// longest is the bytes of a readable name.
const longest = 256

// Of gives the name of a function, as its author wrote it where that can be told, on one line of at most 256 bytes;
// empty when it has none.
func (n Names) Of(function uint32) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, readable(n[function]))
	return strings.ToValidUTF8(name[:min(len(name), longest)], "")
}
