package runtime

import (
	"fmt"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// ModuleInfo describes a module without running it.
type ModuleInfo struct {
	Digest   string        // SHA-256, as in "sha256:9f86…"
	Size     int           // bytes
	Manifest *abi.Manifest // packed into the module; nil when the provider has to be asked
}

// Inspect describes a module without running it. It returns an error if the packed manifest is not valid.
func Inspect(module []byte) (*ModuleInfo, error) {
	info := &ModuleInfo{Digest: digestOf(module), Size: len(module)}
	text, err := wasm.Custom(module, abi.ManifestSection)
	if err != nil || text == nil {
		return info, err
	}
	if info.Manifest, err = abi.DecodeManifest(text); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	return info, nil
}

// InspectFile is [Inspect] for a .wasm file of at most 64 MiB.
func InspectFile(file string) (*ModuleInfo, error) {
	module, err := readModule(file)
	if err != nil {
		return nil, err
	}
	info, err := Inspect(module)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return info, nil
}
