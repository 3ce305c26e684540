package bundle

import (
	"crypto/ecdsa"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/registry/internal/oci"
)

// Verify returns which of keys signed the manifest of the given digest, by a bundle of at most [oci.MaxBundle] bytes. The key
// that the bundle names is tried first. The name itself proves nothing.
//
// It checks in this order, and reports the first that fails: the bundle's form, that there is one signature, of an in-toto
// payload, that the signature holds, and only then what the payload says.
func Verify(bundle []byte, keys []*PublicKey, manifest oci.Digest) (*PublicKey, error) {
	b, err := parse(bundle)
	if err != nil {
		return nil, err
	}
	key, err := b.signer(keys)
	if err != nil {
		return nil, err
	}
	if err := checkStatement(b.payload, manifest); err != nil {
		return nil, err
	}
	return key, nil
}

// A parsed bundle. Nothing in it is verified.
type parsed struct {
	hint      string
	payload   []byte
	signature []byte
}

func parse(bundle []byte) (*parsed, error) {
	if len(bundle) > oci.MaxBundle {
		return nil, fmt.Errorf("the bundle has %d bytes: at most %d are accepted", len(bundle), oci.MaxBundle)
	}
	top, err := parseObject(bundle, "mediaType", "verificationMaterial", "dsseEnvelope", "messageSignature")
	if err != nil {
		return nil, fmt.Errorf("the bundle cannot be read: %w", err)
	}
	mediaType, err := top.text("mediaType")
	if err != nil {
		return nil, fmt.Errorf("the bundle cannot be read: %w", err)
	}
	if mediaType != oci.BundleType {
		return nil, fmt.Errorf("the bundle is of type %.100q: only %s is supported: sign with cosign 3 or wasmres sign", mediaType, oci.BundleType)
	}
	b := &parsed{}
	if b.hint, err = hintOf(top); err != nil {
		return nil, err
	}
	if _, ok := top["messageSignature"]; ok {
		return nil, errors.New("the bundle signs a file, not a statement about a manifest: sign the reference with cosign sign or wasmres sign")
	}
	e, err := top.object("dsseEnvelope", "payload", "payloadType", "signatures")
	if err != nil {
		return nil, fmt.Errorf("the bundle cannot be read: %w", err)
	}
	return b, b.envelope(e)
}

// hintOf returns the name of the key.
func hintOf(top object) (string, error) {
	m, err := top.object("verificationMaterial",
		"publicKey", "certificate", "x509CertificateChain", "tlogEntries", "timestampVerificationData")
	if err != nil {
		return "", fmt.Errorf("the bundle cannot be read: %w", err)
	}
	_, chain := m["x509CertificateChain"]
	if _, ok := m["certificate"]; ok || chain {
		return "", errors.New("it was signed with a certificate, without a key: wasmres verifies keys only: " +
			"verify it with cosign, or ask the author to sign with a key too")
	}
	key, err := m.object("publicKey", "hint")
	if err != nil {
		return "", fmt.Errorf("the verification material of the bundle: %w", err)
	}
	if _, ok := key["hint"]; !ok {
		return "", nil
	}
	return key.text("hint")
}

func (b *parsed) envelope(e object) error {
	kind, err := e.text("payloadType")
	if err != nil {
		return fmt.Errorf("the envelope of the bundle: %w", err)
	}
	if kind != payloadType {
		return fmt.Errorf("the payload is of type %.100q, not %s: it is no signature of a manifest", kind, payloadType)
	}
	signatures, err := e.array("signatures")
	if err != nil {
		return fmt.Errorf("the envelope of the bundle: %w", err)
	}
	if len(signatures) != 1 {
		return fmt.Errorf("the envelope has %d signatures: a bundle has one: each key signs a bundle of its own", len(signatures))
	}
	signature, err := parseObject(signatures[0], "sig", "keyid")
	if err != nil {
		return fmt.Errorf("the signature of the bundle: %w", err)
	}
	if b.signature, err = signature.base64("sig"); err != nil {
		return fmt.Errorf("the signature of the bundle: %w", err)
	}
	if b.payload, err = e.base64("payload"); err != nil {
		return fmt.Errorf("the envelope of the bundle: %w", err)
	}
	return nil
}

func (o object) base64(name string) ([]byte, error) {
	text, err := o.text(name)
	if err != nil {
		return nil, err
	}
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("the member %s is no base64", name)
	}
	return b, nil
}

// signer returns the key by which the signature holds.
func (b *parsed) signer(keys []*PublicKey) (*PublicKey, error) {
	sum := signedHash(b.payload)
	holds := func(k *PublicKey) bool { return ecdsa.VerifyASN1(k.key, sum[:], b.signature) }
	named := slices.IndexFunc(keys, func(k *PublicKey) bool { return k.hint() == b.hint })
	if named >= 0 && holds(keys[named]) {
		return keys[named], nil
	}
	for i, k := range keys {
		if i != named && holds(k) {
			return k, nil
		}
	}
	if named >= 0 {
		return nil, fmt.Errorf("the signature does not hold by the key %s, which the bundle names: "+
			"the bundle was changed, or another key signed it", keys[named].ID())
	}
	return nil, fmt.Errorf("%w, which it says is %s", ErrOtherKey, describeHint(b.hint))
}

// ErrOtherKey says that a signature is by none of the given keys.
var ErrOtherKey = errors.New("another key signed it")

// describeHint writes what a bundle says of its key as [PublicKey.ID] does, if it is such.
func describeHint(hint string) string {
	if sum, err := base64.StdEncoding.DecodeString(hint); err == nil && len(sum) == 32 {
		return hex.EncodeToString(sum)
	}
	return fmt.Sprintf("%.64q", hint)
}

// checkStatement checks a payload whose signature holds.
func checkStatement(payload []byte, manifest oci.Digest) error {
	s, err := parseObject(payload)
	if err != nil {
		return fmt.Errorf("the signed statement cannot be read: %w", err)
	}
	if kind, err := s.text("_type"); err != nil || kind != statementType {
		return fmt.Errorf("the signed statement is of type %.100q, not %s", kind, statementType)
	}
	if kind, err := s.text("predicateType"); err != nil || kind != predicateType {
		return fmt.Errorf("the signed statement is %.100q, not %s: it says something else about the manifest, as a list of its parts, "+
			"and is no approval of it", kind, predicateType)
	}
	subjects, err := s.array("subject")
	if err != nil {
		return fmt.Errorf("the signed statement: %w", err)
	}
	if len(subjects) > maxMembers {
		return fmt.Errorf("the signed statement has %d subjects: at most %d are accepted", len(subjects), maxMembers)
	}
	var others []string
	for _, subject := range subjects {
		sum, err := subjectDigest(subject)
		if err != nil {
			return fmt.Errorf("the signed statement: %w", err)
		}
		if sum == hexOf(manifest) {
			return nil
		}
		others = append(others, "sha256:"+sum)
	}
	return fmt.Errorf("the signature is about %.200s, not %s: it was copied from another manifest", strings.Join(others, ", "), manifest)
}

// subjectDigest returns the SHA-256 of a subject.
func subjectDigest(text []byte) (string, error) {
	o, err := parseObject(text)
	if err != nil {
		return "", fmt.Errorf("a subject: %w", err)
	}
	digests, err := o.object("digest")
	if err != nil {
		return "", fmt.Errorf("a subject: %w", err)
	}
	return digests.text("sha256")
}
