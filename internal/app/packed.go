package app

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// Packed gives the manifest that is packed into a provider's file, without running it, and the digest of the file. The
// manifest is nil when there is none in it, and when it has to be asked for.
func Packed(file string) (m *abi.Manifest, digest string, err error) {
	binary, err := readModule(file)
	if err != nil {
		return nil, "", err
	}
	text, err := wasm.Custom(binary, abi.ManifestSection)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", file, err)
	}
	if text != nil {
		if m, err = abi.DecodeManifest(text); err != nil {
			return nil, "", fmt.Errorf("%s: manifest: %w", file, err)
		}
	}
	return m, digestOf(binary), nil
}

// digestOf is the digest of a module, as [runtime.Module] gives it.
func digestOf(binary []byte) string {
	sum := sha256.Sum256(binary)
	return "sha256:" + hex.EncodeToString(sum[:])
}
