package project

import (
	"fmt"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// header is the magic number and the version that a module begins with, in bytes.
const header = 8

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
	stripped, err := strip(binary)
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

// strip gives a module without the sections that only tools read.
func strip(module []byte) ([]byte, error) {
	out := append(make([]byte, 0, len(module)), module[:min(header, len(module))]...)
	for s, err := range wasm.Sections(module) {
		if err != nil {
			return nil, err
		}
		if s.ID != wasm.SectionCustom || !isForTools(string(s.Reader().Name())) {
			out = append(out, s.Raw...)
		}
	}
	return out, nil
}

// isForTools reports whether a custom section of this name is for linkers, debuggers or people.
func isForTools(name string) bool {
	switch name {
	case "name", "producers", "target_features", "linking", "go:buildid", "sourceMappingURL", "external_debug_info",
		"build_id":
		return true
	}
	return strings.HasPrefix(name, ".debug") || strings.HasPrefix(name, "reloc.")
}
