package provider_test

import (
	"bytes"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/module"
	"github.com/wasmres/wasmres/runtime/internal/pool"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// A decoded module equals the one that was encoded.
func TestEncodedModulesLoad(t *testing.T) {
	for name, binary := range map[string][]byte{
		"go":     guesttest.Binary(t, "hello"),
		"wat":    readModule(t, "faults.wasm"),
		"puppet": packedPuppet(t),
	} {
		t.Run(name, func(t *testing.T) {
			p, err := provider.Instrument(provider.Config{}, binary)
			if err != nil {
				t.Fatal(err)
			}
			there, err := module.Decode(p.Append(nil))
			if err != nil {
				t.Fatal(err)
			}
			m, err := provider.OpenModule(t.Context(), provider.Config{Runner: pool.InProcess{Engine: cachedEngine(t)}}, there)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			whole := openBinary(t, provider.Config{Runner: pool.InProcess{Engine: cachedEngine(t)}}, binary)
			if got, want := m.Info(), whole.Info(); got.Digest != want.Digest || got.Size != want.Size || got.Packed != want.Packed {
				t.Errorf("got %s of %d bytes, packed %v; want %s, %d, %v", got.Digest, got.Size, got.Packed, want.Digest, want.Size, want.Packed)
			}
			if got, want := m.Manifest().Append(nil), whole.Manifest().Append(nil); !bytes.Equal(got, want) {
				t.Errorf("got manifest %q, want %q", got, want)
			}
		})
	}
}

func packedPuppet(t *testing.T) []byte {
	p := &guesttest.Puppet{}
	p.Manifest.Name, p.Manifest.Ops = "puppet", 1<<abi.OpRead
	return p.Binary(t)
}
