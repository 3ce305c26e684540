package runtime

import (
	"crypto/sha256"
	"errors"

	"github.com/wasmres/wasmres/runtime/symbol"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// errNoNames says what it takes to have names.
var errNoNames = errors.New("neither the module nor one beside it has the names of its functions")

// findSymbols gives the names of the module's functions, by index, as far as any of cfg.Symbols knows them.
func (m *Module) findSymbols() symbol.Names {
	if m.cfg.Symbols == nil {
		return nil
	}
	names, err := m.readSymbols()
	if err != nil {
		m.cfg.Logger.Debug("functions have no names", "why", clip(err))
	}
	return names
}

func (m *Module) readSymbols() (symbol.Names, error) {
	for binary := range m.cfg.Symbols {
		if !m.isOf(binary) {
			continue
		}
		names, err := symbol.Read(binary, m.prepared.code.Imported+m.prepared.code.Defined)
		if err != nil || len(names) > 0 {
			return names, err
		}
	}
	return nil, errNoNames
}

// isOf reports whether binary is the module, or becomes it when it is stripped.
func (m *Module) isOf(binary []byte) bool {
	if name(sha256.Sum256(binary)) == m.prepared.digest {
		return true
	}
	stripped, err := wasm.Strip(binary)
	return err == nil && name(sha256.Sum256(stripped)) == m.prepared.digest
}
