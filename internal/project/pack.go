package project

import (
	"fmt"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// Pack makes of what a compiler has left the module to ship and one to debug with. Both have the manifest in them, as
// the first section; the first has nothing that is only for tools. A module that has a manifest already is refused.
func Pack(binary []byte, m *abi.Manifest) (packed, debug []byte, err error) {
	own, err := wasm.Custom(binary, abi.ManifestSection)
	if err != nil {
		return nil, nil, err
	}
	if own != nil {
		return nil, nil, fmt.Errorf("the compiled module has a section %s of its own", abi.ManifestSection)
	}
	stripped, err := wasm.Strip(binary)
	if err != nil {
		return nil, nil, err
	}
	manifest := m.Append(nil)
	if packed, err = wasm.WithCustom(stripped, abi.ManifestSection, manifest); err != nil {
		return nil, nil, err
	}
	debug, err = wasm.WithCustom(binary, abi.ManifestSection, manifest)
	return packed, debug, err
}
