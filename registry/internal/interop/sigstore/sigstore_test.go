// Package sigstore compares the verification of bundles with that of sigstore-go. It is a module of its own, which make check
// leaves out, since compiling sigstore-go takes longer than all that is tested: see make interop.
package sigstore

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	sigstorebundle "github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/signature"

	"github.com/wasmres/wasmres/registry/internal/bundle"
	"github.com/wasmres/wasmres/registry/internal/oci"
)

// An oracle verifies bundles with sigstore-go, by one key.
type oracle struct{ verifier *verify.Verifier }

func newOracle(t testing.TB, public []byte) *oracle {
	t.Helper()
	block, _ := pem.Decode(public)
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	v, err := signature.LoadVerifier(key, crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	material := root.NewTrustedPublicKeyMaterial(func(string) (root.TimeConstrainedVerifier, error) {
		return root.NewExpiringKey(v, time.Time{}, time.Time{}), nil
	})
	verifier, err := verify.NewVerifier(material, verify.WithNoObserverTimestamps())
	if err != nil {
		t.Fatal(err)
	}
	return &oracle{verifier}
}

// verify returns the type of the statement that was signed about manifest.
func (o *oracle) verify(text []byte, manifest oci.Digest) (predicateType string, err error) {
	var b sigstorebundle.Bundle
	if err := b.UnmarshalJSON(text); err != nil {
		return "", err
	}
	sum, err := hex.DecodeString(strings.TrimPrefix(string(manifest), "sha256:"))
	if err != nil {
		return "", err
	}
	result, err := o.verifier.Verify(&b, verify.NewPolicy(verify.WithArtifactDigest("sha256", sum), verify.WithKey()))
	if err != nil {
		return "", err
	}
	if result.Statement == nil {
		return "", errors.New("no statement was signed")
	}
	return result.Statement.PredicateType, nil
}

const signed = "https://sigstore.dev/cosign/sign/v1"

func TestSigstoreAcceptsOurSignatures(t *testing.T) {
	key, manifest, text := sign(t)
	if kind, err := newOracle(t, key.PEM()).verify(text, manifest); err != nil || kind != signed {
		t.Errorf("%q, %v", kind, err)
	}
}

func TestBothAgreeOnTheVectorsOfCosign(t *testing.T) {
	public := read(t, "cosign.pub")
	key, err := bundle.ParsePublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	manifest := oci.DigestOf(read(t, "manifest.json"))
	o := newOracle(t, public)
	for _, file := range []string{"signature.json", "attestation.json", "blob.json"} {
		kind, theirs := o.verify(read(t, file), manifest)
		_, ours := bundle.Verify(read(t, file), []*bundle.PublicKey{key}, manifest)
		if (theirs == nil && kind == signed) != (ours == nil) {
			t.Errorf("%s: sigstore-go: %q, %v; wasmres: %v", file, kind, theirs, ours)
		}
	}
}

// Whatever wasmres accepts of bundles that were changed at random, sigstore-go accepts too.
func TestWasmresAcceptsNoMoreThanSigstore(t *testing.T) {
	key, manifest, text := sign(t)
	o := newOracle(t, key.PEM())
	random := rand.New(rand.NewPCG(1, 2))
	accepted, refused := 0, 0
	for range 20_000 {
		changed := bytes.Clone(text)
		for range 1 + random.IntN(2) {
			changed[random.IntN(len(changed))] = text[random.IntN(len(text))]
		}
		if _, err := bundle.Verify(changed, []*bundle.PublicKey{key}, manifest); err != nil {
			refused++
			continue
		}
		accepted++
		if kind, err := o.verify(changed, manifest); err != nil || kind != signed {
			t.Errorf("sigstore-go refuses %s: %q, %v", changed, kind, err)
		}
	}
	if accepted == 0 || refused == 0 {
		t.Errorf("%d accepted, %d refused: the changes show nothing", accepted, refused)
	}
	t.Logf("%d accepted, %d refused", accepted, refused)
}

func BenchmarkVerify(b *testing.B) {
	key, manifest, text := sign(b)
	b.Run("wasmres", func(b *testing.B) {
		for b.Loop() {
			if _, err := bundle.Verify(text, []*bundle.PublicKey{key}, manifest); err != nil {
				b.Fatal(err)
			}
		}
	})
	o := newOracle(b, key.PEM())
	b.Run("sigstore-go", func(b *testing.B) {
		for b.Loop() {
			if _, err := o.verify(text, manifest); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func sign(t testing.TB) (*bundle.PublicKey, oci.Digest, []byte) {
	t.Helper()
	key, err := bundle.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	manifest := oci.DigestOf([]byte("manifest"))
	text, err := key.Sign(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return key.Public(), manifest, text
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../../bundle/testdata/cosign/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
