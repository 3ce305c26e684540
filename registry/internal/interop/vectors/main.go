// The program vectors has cosign make the vectors of package bundle again: keys, and signatures of the manifest of a provider.
//
//	cd registry/internal/interop && go run ./vectors
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/wasmres/wasmres/registry/internal/interop/clients"
	"github.com/wasmres/wasmres/registry/internal/oci"
)

func main() {
	log.SetFlags(0)
	if err := run(filepath.Join("..", "bundle", "testdata", "cosign")); err != nil {
		log.Fatal(err)
	}
}

func run(into string) error {
	into, err := filepath.Abs(into)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "vectors-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	p, err := clients.Build(work)
	if err != nil {
		return err
	}
	address, stop, err := p.Serve("crane")
	if err != nil {
		return err
	}
	defer stop()
	return errors.Join(os.MkdirAll(into, 0o755), write(p, address+"/vectors", work, into))
}

// write writes the vectors. The module is an empty one.
func write(p *clients.Programs, name, work, into string) error {
	module := []byte("\x00asm\x01\x00\x00\x00")
	created := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	packed, err := oci.Pack(oci.DescriptorOf(oci.ModuleType, module), "empty.wasm", created, nil)
	if err != nil {
		return err
	}
	ctx := context.Background()
	r, err := clients.Repository(name)
	if err != nil {
		return err
	}
	if err := clients.Push(ctx, r, packed, module, "1"); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(into, "manifest.json"), packed.ManifestBytes, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(work, "parts.json"), []byte(`{"parts":[]}`), 0o600); err != nil {
		return err
	}
	target := name + "@" + string(packed.Manifest.Digest)
	key := []string{"--key", filepath.Join(into, "cosign.key"), "--yes"}
	for _, arguments := range [][]string{
		{"generate-key-pair", "--output-key-prefix", filepath.Join(into, "cosign")},
		append(append([]string{"sign", "--allow-http-registry", target}, key...), clients.Offline...),
		append(append([]string{"sign-blob", "--bundle", filepath.Join(into, "blob.json"), filepath.Join(into, "manifest.json")}, key...), clients.Offline...),
	} {
		if _, err := p.Run(clients.Cosign, arguments...); err != nil {
			return err
		}
	}
	if err := save(ctx, name, packed.Manifest, filepath.Join(into, "signature.json")); err != nil {
		return err
	}
	return attest(ctx, p, name, key, filepath.Join(into, "attestation.json"))
}

// attest has cosign sign a statement of another kind, about a second manifest.
func attest(ctx context.Context, p *clients.Programs, name string, key []string, file string) error {
	module := []byte("\x00asm\x01\x00\x00\x00")
	packed, err := oci.Pack(oci.DescriptorOf(oci.ModuleType, module), "other.wasm", time.Time{}, nil)
	if err != nil {
		return err
	}
	r, err := clients.Repository(name)
	if err != nil {
		return err
	}
	if err := clients.Push(ctx, r, packed, module, "2"); err != nil {
		return err
	}
	arguments := append([]string{"attest", "--allow-http-registry", "--predicate", "parts.json", name + "@" + string(packed.Manifest.Digest)}, key...)
	if _, err := p.Run(clients.Cosign, append(arguments, clients.Offline...)...); err != nil {
		return err
	}
	return save(ctx, name, packed.Manifest, file)
}

// save writes the one bundle about a manifest to a file.
func save(ctx context.Context, name string, manifest oci.Descriptor, file string) error {
	r, err := clients.Repository(name)
	if err != nil {
		return err
	}
	bundles, err := clients.Bundles(ctx, r, manifest)
	if err != nil {
		return err
	}
	if len(bundles) != 1 {
		return errors.New(file + ": cosign attached another number of bundles than one")
	}
	return os.WriteFile(file, bundles[0], 0o644)
}
