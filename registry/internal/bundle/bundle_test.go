package bundle_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/registry/internal/bundle"
	"github.com/wasmres/wasmres/registry/internal/oci"
)

const (
	manifest = oci.Digest("sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")
	inToto   = "application/vnd.in-toto+json"
	approval = `{"_type":"https://in-toto.io/Statement/v1","predicateType":"https://sigstore.dev/cosign/sign/v1","predicate":{},` +
		`"subject":[{"digest":{"sha256":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}}]}`
)

// A signer signs payloads of any kind.
type signer struct {
	key    *ecdsa.PrivateKey
	public *bundle.PublicKey
}

func newSigner(t testing.TB) *signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := bundle.ParsePublicKey(publicFile(t, &key.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	return &signer{key, public}
}

func publicFile(t testing.TB, key any) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// sign returns the signature of a payload, in base64.
func (s *signer) sign(t testing.TB, payload string) string {
	t.Helper()
	sum := sha256.Sum256(fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(inToto), inToto, len(payload), payload))
	sig, err := ecdsa.SignASN1(rand.Reader, s.key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(sig)
}

func write(payload, signatures string) string {
	return fmt.Sprintf(`{"mediaType":%q,"verificationMaterial":{"publicKey":{"hint":"x"}},"dsseEnvelope":`+
		`{"payload":%q,"payloadType":%q,"signatures":[%s]}}`, oci.BundleType, base64.StdEncoding.EncodeToString([]byte(payload)), inToto, signatures)
}

func (s *signer) bundle(t testing.TB, payload string) string {
	return write(payload, fmt.Sprintf(`{"sig":%q}`, s.sign(t, payload)))
}

func TestASignatureHoldsForItsManifestOnly(t *testing.T) {
	key, err := bundle.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	other := newSigner(t).public
	b, err := key.Sign(manifest)
	if err != nil {
		t.Fatal(err)
	}
	for _, keys := range [][]*bundle.PublicKey{{key.Public()}, {other, key.Public()}, {key.Public(), other}} {
		got, err := bundle.Verify(b, keys, manifest)
		if err != nil || got.ID() != key.Public().ID() {
			t.Errorf("%v, %v", got, err)
		}
	}
	if _, err := bundle.Verify(b, []*bundle.PublicKey{other}, manifest); !errors.Is(err, bundle.ErrOtherKey) ||
		!strings.Contains(err.Error(), key.Public().ID()) {
		t.Errorf("by another key: %v", err)
	}
	if _, err := bundle.Verify(b, nil, manifest); !errors.Is(err, bundle.ErrOtherKey) {
		t.Errorf("by no key: %v", err)
	}
	second := oci.DigestOf(nil)
	if _, err := bundle.Verify(b, []*bundle.PublicKey{key.Public()}, second); err == nil ||
		!strings.Contains(err.Error(), string(manifest)) || !strings.Contains(err.Error(), string(second)) {
		t.Errorf("about another manifest: %v", err)
	}
}

func TestSignaturesOfCosign(t *testing.T) {
	key, err := bundle.ParsePublicKey(read(t, "cosign.pub"))
	if err != nil {
		t.Fatal(err)
	}
	signed := oci.DigestOf(read(t, "manifest.json"))
	if _, err := bundle.Verify(read(t, "signature.json"), []*bundle.PublicKey{key}, signed); err != nil {
		t.Error(err)
	}
	for file, want := range map[string]string{"attestation.json": "the signed statement is of type", "blob.json": "signs a file"} {
		if _, err := bundle.Verify(read(t, file), []*bundle.PublicKey{key}, signed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}

func TestHostileBundles(t *testing.T) {
	s := newSigner(t)
	good := s.bundle(t, approval)
	if _, err := bundle.Verify([]byte(good), []*bundle.PublicKey{s.public}, manifest); err != nil {
		t.Fatal(err)
	}
	one := fmt.Sprintf(`{"sig":%q}`, s.sign(t, approval))
	changed := strings.Replace(approval, `"predicate":{}`, `"predicate":{"a":1}`, 1)
	replaced := func(old, by string) string {
		t.Helper()
		if !strings.Contains(good, old) {
			t.Fatalf("%s is not in %s", old, good)
		}
		return strings.Replace(good, old, by, 1)
	}
	statement := func(old, by string) string { return s.bundle(t, strings.Replace(approval, old, by, 1)) }
	for name, test := range map[string]struct{ bundle, want string }{
		"nothing":                    {"", "no JSON object"},
		"an array":                   {"[" + good + "]", "no JSON object"},
		"truncated":                  {good[:len(good)-1], "ends too early"},
		"truncated within":           {good[:len(good)/2], "is no JSON"},
		"something after it":         {good + "{}", "text follows"},
		"huge":                       {good + strings.Repeat(" ", oci.MaxBundle), "at most"},
		"many members":               {s.bundle(t, "{"+members(300)+approval[1:]), "more than 256 members"},
		"nested deeply":              {strings.Replace(good, `"x"`, strings.Repeat("[", 200_000), 1), "is no JSON"},
		"a member twice":             {replaced(`"mediaType"`, `"mediaType":"x","mediaType"`), "twice"},
		"two payloads":               {replaced(`"payload":`, `"payload":"e30=","payload":`), "twice"},
		"two payloads, by case":      {replaced(`"payload":`, `"Payload":"e30=","payload":`), `unknown member "Payload"`},
		"an older version":           {replaced("v0.3+json", "v0.2+json"), "is of type"},
		"a certificate":              {replaced(`{"publicKey":{"hint":"x"}}`, `{"certificate":{"rawBytes":""}}`), "certificate"},
		"no key":                     {replaced(`"publicKey":{"hint":"x"}`, ``), "publicKey is missing"},
		"no envelope":                {good[:strings.Index(good, `,"dsseEnvelope"`)] + "}", "dsseEnvelope is missing"},
		"an unknown member":          {replaced("dsseEnvelope", "envelope"), `unknown member "envelope"`},
		"two signatures":             {write(approval, one+","+one), "has 2 signatures"},
		"no signature":               {write(approval, ""), "has 0 signatures"},
		"signatures are no array":    {strings.Replace(write(approval, ""), "[]", "{}", 1), "is no array"},
		"no base64":                  {write(approval, `{"sig":"?"}`), "no base64"},
		"a number for a text":        {write(approval, `{"sig":1}`), "no string"},
		"null for a text":            {write(approval, `{"sig":null}`), "no string"},
		"an empty signature":         {write(approval, `{"sig":""}`), "another key"},
		"zeros for a signature":      {write(approval, `{"sig":"MAYCAQACAQA="}`), "another key"},
		"another payload type":       {replaced(inToto, "text/plain"), "is of type"},
		"a payload that was swapped": {write(changed, one), "another key"},
		"a payload that is no JSON":  {s.bundle(t, "hello"), "the signed statement cannot be read"},
		"a statement of version 0.1": {statement("Statement/v1", "Statement/v0.1"), "is of type"},
		"another predicate":          {statement("cosign/sign/v1", "spdx"), "says something else"},
		"the predicate twice":        {statement(`"predicateType"`, `"predicateType":"x","predicateType"`), "twice"},
		"no subject":                 {statement(`"subject":[`, `"subject":[],"x":[`), "about , not"},
		"a subject of SHA-512":       {statement(`"sha256"`, `"sha512"`), "sha256 is missing"},
		"another subject":            {statement(`0123456789`, `1123456789`), "copied from another manifest"},
		"the digest in upper case":   {statement(`abcdef`, `ABCDEF`), "copied from another manifest"},
		"many subjects":              {statement(`"subject":[`, `"subject":[`+strings.Repeat("1,", 300)), "301 subjects"},
	} {
		_, err := bundle.Verify([]byte(test.bundle), []*bundle.PublicKey{s.public}, manifest)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func members(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"m%d":1,`, i)
	}
	return b.String()
}

// A second signature that anyone can compute from the first holds too, and says the same. Encodings that DER does not allow do
// not hold.
func TestMalleableSignatures(t *testing.T) {
	s := newSigner(t)
	sig, err := base64.StdEncoding.DecodeString(s.sign(t, approval))
	if err != nil {
		t.Fatal(err)
	}
	var rs struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(sig, &rs); err != nil {
		t.Fatal(err)
	}
	rs.S.Sub(elliptic.P256().Params().N, rs.S)
	second, err := asn1.Marshal(rs)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		sig   []byte
		holds bool
	}{
		"as it is": {sig, true}, "the other s": {second, true},
		"a byte after it":  {append(bytes.Clone(sig), 0), false},
		"a long length":    {append([]byte{0x30, 0x81}, sig[1:]...), false},
		"r and s, no DER":  {append(rs.R.FillBytes(make([]byte, 32)), rs.S.FillBytes(make([]byte, 32))...), false},
		"half of it":       {sig[:len(sig)/2], false},
		"a changed length": {append([]byte{0x30, sig[1] - 1}, sig[2:]...), false},
	} {
		b := write(approval, fmt.Sprintf(`{"sig":%q}`, base64.StdEncoding.EncodeToString(test.sig)))
		if _, err := bundle.Verify([]byte(b), []*bundle.PublicKey{s.public}, manifest); (err == nil) != test.holds {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever bundle is accepted, it says what was signed: no other statement of the key counts.
func FuzzVerify(f *testing.F) {
	s := newSigner(f)
	f.Add([]byte(s.bundle(f, approval)))
	f.Add(read(f, "signature.json"))
	f.Add(read(f, "attestation.json"))
	f.Add(read(f, "blob.json"))
	stranger := newSigner(f).public
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = bundle.Verify(b, []*bundle.PublicKey{s.public}, manifest)
		if _, err := bundle.Verify(b, []*bundle.PublicKey{stranger}, manifest); err == nil {
			t.Error("a key that signed nothing was accepted")
		}
	})
}

// FuzzStatement signs whatever the fuzzer makes, so that it gets past the signature.
func FuzzStatement(f *testing.F) {
	s := newSigner(f)
	f.Add(approval)
	f.Add(strings.Replace(approval, "cosign/sign/v1", "spdx", 1))
	f.Fuzz(func(t *testing.T, payload string) {
		_, err := bundle.Verify([]byte(s.bundle(t, payload)), []*bundle.PublicKey{s.public}, manifest)
		if err == nil && !strings.Contains(payload, strings.TrimPrefix(string(manifest), "sha256:")) {
			t.Errorf("accepted: %s", payload)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	key, err := bundle.GenerateKey()
	if err != nil {
		b.Fatal(err)
	}
	signed, err := key.Sign(manifest)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := bundle.Verify(signed, []*bundle.PublicKey{key.Public()}, manifest); err != nil {
			b.Fatal(err)
		}
	}
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/cosign/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
