package authtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"sync"
)

// The algorithms of keys (RFC 7518 §3.1, RFC 8037).
const (
	RS256 = "RS256"
	PS256 = "PS256"
	ES256 = "ES256"
	EdDSA = "EdDSA"
)

// A Key signs tokens.
type Key struct {
	ID, Algorithm string
	private       crypto.Signer
}

// oneRSA is a key that all tests share: to make one takes long.
var oneRSA = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })

// NewKey makes a key. Those for RS256 and PS256 are all the same but for their ID.
func NewKey(id, algorithm string) *Key {
	k := &Key{ID: id, Algorithm: algorithm}
	switch algorithm {
	case RS256, PS256:
		k.private = oneRSA()
	case ES256:
		k.private = must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	case EdDSA:
		_, private, err := ed25519.GenerateKey(rand.Reader)
		k.private = must(private, err)
	default:
		panic("authtest: no algorithm " + algorithm)
	}
	return k
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// JWK returns the public key (RFC 7517).
func (k *Key) JWK() map[string]any {
	jwk := map[string]any{"kid": k.ID, "alg": k.Algorithm, "use": "sig"}
	switch public := k.private.Public().(type) {
	case *rsa.PublicKey:
		jwk["kty"], jwk["n"], jwk["e"] = "RSA", encode(public.N.Bytes()), encode(big.NewInt(int64(public.E)).Bytes())
	case *ecdsa.PublicKey:
		point := must(public.Bytes()) // 4, x, y
		jwk["kty"], jwk["crv"], jwk["x"], jwk["y"] = "EC", "P-256", encode(point[1:33]), encode(point[33:])
	case ed25519.PublicKey:
		jwk["kty"], jwk["crv"], jwk["x"] = "OKP", "Ed25519", encode(public)
	}
	return jwk
}

// weak returns keys with the ID of k that must not be trusted.
func (k *Key) weak() []any {
	secret := map[string]any{"kid": k.ID, "kty": "oct", "k": encode([]byte(k.PEM()))}
	encrypts := k.JWK()
	encrypts["use"] = "enc"
	private := k.JWK()
	private["d"] = encode(make([]byte, 32))
	small := map[string]any{"kid": k.ID, "kty": "RSA", "n": encode(append([]byte{0x80}, make([]byte, 127)...)), "e": "AQAB"}
	return []any{secret, encrypts, private, small}
}

// PEM returns the public key as text, which an attacker would use as the secret of HS256.
func (k *Key) PEM() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: must(x509.MarshalPKIXPublicKey(k.private.Public()))}))
}

// Sign returns a token with these claims. header changes the header of a good one: nil removes a member.
func (k *Key) Sign(header map[string]any, claims map[string]any) string {
	return k.SignPayload(header, must(json.Marshal(claims)))
}

// SignPayload is Sign for any payload.
func (k *Key) SignPayload(header map[string]any, payload []byte) string {
	h := map[string]any{"typ": "at+jwt", "alg": k.Algorithm, "kid": k.ID}
	for name, value := range header {
		if h[name] = value; value == nil {
			delete(h, name)
		}
	}
	text := encode(must(json.Marshal(h))) + "." + encode(payload)
	return text + "." + encode(k.signature(text))
}

func (k *Key) signature(text string) []byte {
	digest := sha256.Sum256([]byte(text))
	switch private := k.private.(type) {
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, private, digest[:])
		must(r, err)
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	case ed25519.PrivateKey:
		return ed25519.Sign(private, []byte(text))
	}
	var opts crypto.SignerOpts = crypto.SHA256
	if k.Algorithm == PS256 {
		opts = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: crypto.SHA256}
	}
	return must(k.private.Sign(rand.Reader, digest[:], opts))
}

// SignHS256 returns a token that is signed by HS256 with a secret.
func SignHS256(secret string, header, claims map[string]any) string {
	h := map[string]any{"typ": "at+jwt", "alg": "HS256"}
	for name, value := range header {
		h[name] = value
	}
	text := encode(must(json.Marshal(h))) + "." + encode(must(json.Marshal(claims)))
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return text + "." + encode(mac.Sum(nil))
}

// Unsigned returns a token with the algorithm none.
func Unsigned(claims map[string]any) string {
	return encode([]byte(`{"typ":"at+jwt","alg":"none"}`)) + "." + encode(must(json.Marshal(claims))) + "."
}
