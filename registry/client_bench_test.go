package registry_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/registryserver"
	"github.com/wasmres/wasmres/registry"
)

// BenchmarkClient moves a provider of the size of a Go program between stores on disk and Debian's registry: push cold and
// when the registry has the blobs; get into an empty store, and when the store has it.
func BenchmarkClient(b *testing.B) {
	host, _ := registryserver.Start(b, registryserver.Options{})
	client, err := registry.NewClient(registry.ClientOptions{Anonymous: true})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	module := make([]byte, 5_804_600)
	_, _ = rand.NewChaCha8([32]byte{}).Read(module)
	copy(module, "\x00asm\x01\x00\x00\x00")
	store := openStore(b)
	n := 0
	add := func() registry.Reference {
		n++
		copy(module[8:], fmt.Sprintf("%8d", n))
		name := reference(b, fmt.Sprintf("%s/cold%d/notes:1.0.0", host, n))
		if _, err := store.Add(b.Context(), bytes.NewReader(module), name, registry.Metadata{File: "notes.wasm", Created: time.Unix(1795000000, 0)}); err != nil {
			b.Fatal(err)
		}
		return name
	}
	push := func(name registry.Reference) {
		if err := client.Push(b.Context(), store, name, nil); err != nil {
			b.Fatal(err)
		}
	}
	get := func(into *registry.Store, name registry.Reference) {
		g := &registry.Getter{Store: into, Client: client, Verifier: registry.NewVerifier(nil, registry.VerifierOptions{})}
		p, err := g.Get(b.Context(), name, registry.GetOptions{})
		if err != nil {
			b.Fatal(err)
		}
		p.Release()
	}
	name := add()
	push(name)
	b.Run("PushCold", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			name := add()
			b.StartTimer()
			push(name)
		}
	})
	b.Run("PushPresent", func(b *testing.B) {
		for b.Loop() {
			push(name)
		}
	})
	b.Run("Get", func(b *testing.B) {
		dir, n := b.TempDir(), 0
		for b.Loop() {
			b.StopTimer()
			n++
			empty, err := registry.OpenStore(filepath.Join(dir, fmt.Sprint(n)), registry.StoreOptions{})
			if err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			get(empty, name)
			b.StopTimer()
			if err := empty.Close(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
	b.Run("GetStored", func(b *testing.B) {
		for b.Loop() {
			get(store, name)
		}
	})
}
