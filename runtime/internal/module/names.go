package module

import (
	"crypto/sha256"
	"errors"
	"iter"

	"github.com/wasmres/wasmres/runtime/internal/symbol"
	"github.com/wasmres/wasmres/runtime/wasm"
)

var errNoFunctionNames = errors.New("neither the module nor one beside it has the names of its functions")

// FunctionNames returns the names of the module's functions, by index. It takes them from the first of the candidates
// that is the module, or becomes it when it is stripped, and has names.
func (m *Module) FunctionNames(candidates iter.Seq[[]byte]) (symbol.Names, error) {
	for binary := range candidates {
		if !m.matchesDigest(binary) {
			continue
		}
		names, err := symbol.Read(binary, m.Code.Imported+m.Code.Defined)
		if err != nil || len(names) > 0 {
			return names, err
		}
	}
	return nil, errNoFunctionNames
}

// matchesDigest reports whether binary is the module, or becomes it when it is stripped.
func (m *Module) matchesDigest(binary []byte) bool {
	if digestName(sha256.Sum256(binary)) == m.Digest {
		return true
	}
	stripped, err := wasm.Strip(binary)
	return err == nil && digestName(sha256.Sum256(stripped)) == m.Digest
}
