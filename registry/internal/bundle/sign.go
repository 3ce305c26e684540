package bundle

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wasmres/wasmres/registry/internal/oci"
)

// The values that a signature must have.
const (
	payloadType   = "application/vnd.in-toto+json"
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://sigstore.dev/cosign/sign/v1"
)

// The documents that Sign writes.
type (
	document struct {
		MediaType string   `json:"mediaType"`
		Material  material `json:"verificationMaterial"`
		Envelope  envelope `json:"dsseEnvelope"`
	}
	material struct {
		PublicKey struct {
			Hint string `json:"hint"`
		} `json:"publicKey"`
	}
	envelope struct {
		Payload     []byte      `json:"payload"`
		PayloadType string      `json:"payloadType"`
		Signatures  []signature `json:"signatures"`
	}
	signature struct {
		Sig []byte `json:"sig"`
	}
	statement struct {
		Type          string    `json:"_type"`
		Subject       []subject `json:"subject"`
		PredicateType string    `json:"predicateType"`
		Predicate     struct{}  `json:"predicate"`
	}
	subject struct {
		Digest map[string]string `json:"digest"`
	}
)

// Sign returns a bundle that says that k signed the manifest of the given digest.
func (k *PrivateKey) Sign(manifest oci.Digest) ([]byte, error) {
	payload, err := json.Marshal(statement{
		Type: statementType, PredicateType: predicateType,
		Subject: []subject{{map[string]string{"sha256": hexOf(manifest)}}},
	})
	if err != nil {
		return nil, err
	}
	sum := signedHash(payload)
	sig, err := ecdsa.SignASN1(rand.Reader, k.key, sum[:])
	if err != nil {
		return nil, err
	}
	d := document{MediaType: oci.BundleType, Envelope: envelope{payload, payloadType, []signature{{sig}}}}
	d.Material.PublicKey.Hint = k.public.hint()
	return json.Marshal(d)
}

// signedHash returns the hash of what DSSE signs: the payload and its type, each after its length.
func signedHash(payload []byte) [sha256.Size]byte {
	h := sha256.New()
	fmt.Fprintf(h, "DSSEv1 %d %s %d ", len(payloadType), payloadType, len(payload))
	h.Write(payload)
	return [sha256.Size]byte(h.Sum(nil))
}

func hexOf(d oci.Digest) string { return strings.TrimPrefix(string(d), "sha256:") }
