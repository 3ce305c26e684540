package registry_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/wasmres/wasmres/registry"
	"github.com/wasmres/wasmres/registry/internal/oci"
)

// manifestOf is a manifest as push writes it.
func manifestOf(created string) []byte {
	at, err := time.Parse(time.RFC3339, created)
	if err != nil {
		log.Fatal(err)
	}
	p, err := oci.Pack(oci.DescriptorOf(oci.ModuleType, nil), "notes.wasm", at, nil)
	if err != nil {
		log.Fatal(err)
	}
	return p.ManifestBytes
}

// A publisher makes a key once, and signs each version with it.
func ExampleSigner_Sign() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	key, err := registry.GenerateKey([]byte("a passphrase"))
	if err != nil {
		log.Fatal(err)
	}
	if err := key.Write(filepath.Join(dir, "ada")); err != nil { // ada.key, ada.pub
		log.Fatal(err)
	}

	signer, err := registry.LoadSigner(filepath.Join(dir, "ada.key"), []byte("a passphrase"))
	if err != nil {
		log.Fatal(err)
	}
	manifest := manifestOf("2026-11-20T12:00:00Z")
	signature, err := signer.Sign(oci.DescriptorOf(oci.ManifestType, manifest))
	if err != nil {
		log.Fatal(err)
	}

	// The user trusts the key.
	policy, err := registry.RequireKeys(signer.PublicKey())
	if err != nil {
		log.Fatal(err)
	}
	r, err := registry.ParseReference("ghcr.io/ada/notes:1.0.0")
	if err != nil {
		log.Fatal(err)
	}
	verifier := registry.NewVerifier(policy, registry.VerifierOptions{})
	verified, err := verifier.Verify(context.Background(), r, manifest, [][]byte{signature})
	fmt.Println(verified.Signed, err)
	// Output: true <nil>
}

// A policy says for which repositories signatures are needed, and by whom.
func ExampleParsePolicy() {
	policy, err := registry.ParsePolicy("trust.yaml", []byte(`
version: "1.0"
keys:
  - name: ada
    pem: |
      -----BEGIN PUBLIC KEY-----
      MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE+1Nz5aZTS2VvRfDM22tNZgStirS5
      DydCjKG5nJfNtEfg5V49SzyUn6zbutUV89yj2ndvzSSU3kdysJanrqz44A==
      -----END PUBLIC KEY-----
rules:
  - repositories: [ghcr.io/ada/*]
    keys: [ada]
  - repositories: ["localhost:5000"]
    require: none
default: refuse
`))
	if err != nil {
		log.Fatal(err)
	}
	verifier := registry.NewVerifier(policy, registry.VerifierOptions{})
	for _, name := range []string{"localhost:5000/notes:1", "ghcr.io/ada/notes:1", "ghcr.io/eve/notes:1"} {
		r, err := registry.ParseReference(name)
		if err != nil {
			log.Fatal(err)
		}
		verified, err := verifier.Verify(context.Background(), r, manifestOf("2026-11-20T12:00:00Z"), nil)
		if errors.Is(err, registry.ErrUntrusted) {
			fmt.Println(name, "is refused")
			continue
		}
		fmt.Printf("%s: %s\n", name, verified)
	}
	// Output:
	// localhost:5000/notes:1: no signature was verified: rule "localhost:5000" of trust.yaml
	// ghcr.io/ada/notes:1 is refused
	// ghcr.io/eve/notes:1 is refused
}

// A registry may serve an older version, whose signature is true. The verifier remembers what it has accepted.
func ExampleVerifier_Verify() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	signer := newSigner(dir)
	policy, err := registry.RequireKeys(signer.PublicKey())
	if err != nil {
		log.Fatal(err)
	}
	verifier := registry.NewVerifier(policy, registry.VerifierOptions{State: filepath.Join(dir, "accepted")})
	r, err := registry.ParseReference("ghcr.io/ada/notes:latest")
	if err != nil {
		log.Fatal(err)
	}
	for _, created := range []string{"2026-11-20T12:00:00Z", "2026-10-01T12:00:00Z"} {
		manifest := manifestOf(created)
		signature, err := signer.Sign(oci.DescriptorOf(oci.ManifestType, manifest))
		if err != nil {
			log.Fatal(err)
		}
		_, err = verifier.Verify(context.Background(), r, manifest, [][]byte{signature})
		fmt.Println("made", created, "older:", errors.Is(err, registry.ErrDowngrade))
	}
	// Output:
	// made 2026-11-20T12:00:00Z older: false
	// made 2026-10-01T12:00:00Z older: true
}

// Modules in files have no signature. A policy that says nothing of them refuses them.
func ExampleVerifier_VerifyFile() {
	policy, err := registry.ParsePolicy("trust.yaml", []byte("version: \"1.0\"\ndefault: refuse\nfiles: allow\n"))
	if err != nil {
		log.Fatal(err)
	}
	verified, err := registry.NewVerifier(policy, registry.VerifierOptions{}).VerifyFile("notes.wasm")
	fmt.Println(verified, err)
	// Output: no signature was verified: trust.yaml allows modules in files <nil>
}

// newSigner makes a key in a folder.
func newSigner(dir string) *registry.Signer {
	key, err := registry.GenerateKey(nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := key.Write(filepath.Join(dir, "ada")); err != nil {
		log.Fatal(err)
	}
	signer, err := registry.LoadSigner(filepath.Join(dir, "ada.key"), nil)
	if err != nil {
		log.Fatal(err)
	}
	return signer
}
