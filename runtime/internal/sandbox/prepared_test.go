package sandbox_test

import (
	"bytes"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/module"
	"github.com/wasmres/wasmres/runtime/internal/pool"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/sandbox"
)

// A decoded module equals the one that was encoded.
func TestEncodedModulesLoad(t *testing.T) {
	for name, binary := range map[string][]byte{
		"go":     guesttest.Binary(t, "hello"),
		"wat":    readModule(t, "faults.wasm"),
		"puppet": packedPuppet(t),
	} {
		t.Run(name, func(t *testing.T) {
			p, err := sandbox.Prepare(sandbox.Config{}, binary)
			if err != nil {
				t.Fatal(err)
			}
			there, err := module.Decode(p.Append(nil))
			if err != nil {
				t.Fatal(err)
			}
			m, err := sandbox.Open(t.Context(), sandbox.Config{Runner: pool.InProcess{Engine: cachedEngine(t)}}, there)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			want := loadBinary(t, binary)
			if m.Digest() != want.Digest() || m.Size() != want.Size() || m.Packed() != want.Packed() {
				t.Errorf("got %s of %d bytes, packed %v; want %s, %d, %v", m.Digest(), m.Size(), m.Packed(), want.Digest(), want.Size(), want.Packed())
			}
			if got, want := m.Manifest().Append(nil), want.Manifest().Append(nil); !bytes.Equal(got, want) {
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

func loadBinary(t *testing.T, binary []byte) *sandbox.Module {
	t.Helper()
	m, err := sandbox.Load(t.Context(), sandbox.Config{Runner: pool.InProcess{Engine: cachedEngine(t)}}, binary)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func FuzzDecodePrepared(f *testing.F) {
	for _, file := range []string{"faults.wasm", "reset.wasm", "visits.wasm"} {
		p, err := sandbox.Prepare(sandbox.Config{}, readModule(f, file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(p.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := module.Decode(b)
		if err != nil {
			return
		}
		once := p.Append(nil)
		again, err := module.Decode(once)
		if err != nil {
			t.Fatalf("what was decoded does not decode again: %v", err)
		}
		if twice := again.Append(nil); !bytes.Equal(once, twice) {
			t.Errorf("got %q, want %q", twice, once)
		}
	})
}
