package project

import (
	"fmt"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// Pack makes the module to ship and the module to debug with from a compiled one. Both have the manifest as their first
// section. The module to ship has no other custom sections. binary must not have a manifest.
func Pack(binary []byte, m *abi.Manifest) (packed, debug []byte, err error) {
	own, err := wasm.Custom(binary, abi.ManifestSection)
	if err != nil {
		return nil, nil, err
	}
	if own != nil {
		return nil, nil, fmt.Errorf("the compiled module has a section %s, which wasmres writes: remove it from the sources", abi.ManifestSection)
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
