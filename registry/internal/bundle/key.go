package bundle

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
)

// MaxKeyFile bounds the file of a key, in bytes.
const MaxKeyFile = 16 << 10

// The types of PEM blocks. cosign writes sigstoreBlock since version 2, and wrote cosignBlock before.
const (
	publicBlock   = "PUBLIC KEY"
	sigstoreBlock = "ENCRYPTED SIGSTORE PRIVATE KEY"
	cosignBlock   = "ENCRYPTED COSIGN PRIVATE KEY"
)

// ErrPassphrase says that a passphrase does not decrypt a key.
var ErrPassphrase = errors.New("the passphrase is wrong, or the file was changed")

// A PublicKey verifies signatures. It is immutable.
type PublicKey struct {
	key *ecdsa.PublicKey
	der []byte // SubjectPublicKeyInfo
	sum [sha256.Size]byte
}

// ParsePublicKey parses the file of a public key: one PEM block with a SubjectPublicKeyInfo of ECDSA on P-256.
func ParsePublicKey(file []byte) (*PublicKey, error) {
	block, err := onlyBlock(file)
	if err != nil {
		return nil, err
	}
	if block.Type != publicBlock {
		return nil, fmt.Errorf("it has %s: a public key is in a block named %s", describeBlock(block.Type), publicBlock)
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, errors.New("its block is not the DER of a public key: make the key again, or ask for another copy")
	}
	key, ok := parsed.(*ecdsa.PublicKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, unsupported(parsed)
	}
	return newPublicKey(key)
}

func newPublicKey(key *ecdsa.PublicKey) (*PublicKey, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, err
	}
	return &PublicKey{key: key, der: der, sum: sha256.Sum256(der)}, nil
}

// ID identifies the key: the SHA-256 of its SubjectPublicKeyInfo, in hexadecimal.
func (k *PublicKey) ID() string { return hex.EncodeToString(k.sum[:]) }

// hint is how a bundle names the key.
func (k *PublicKey) hint() string { return base64.StdEncoding.EncodeToString(k.sum[:]) }

// PEM returns the file of the key.
func (k *PublicKey) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: publicBlock, Bytes: k.der})
}

// A PrivateKey signs. It is immutable.
type PrivateKey struct {
	key    *ecdsa.PrivateKey
	public *PublicKey
}

// GenerateKey makes a new key.
func GenerateKey() (*PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return newPrivateKey(key)
}

func newPrivateKey(key *ecdsa.PrivateKey) (*PrivateKey, error) {
	public, err := newPublicKey(&key.PublicKey)
	if err != nil {
		return nil, err
	}
	return &PrivateKey{key, public}, nil
}

// Public returns the key that verifies the signatures of k.
func (k *PrivateKey) Public() *PublicKey { return k.public }

// Encrypt returns the file of the key, encrypted with a key that scrypt derives from the passphrase. It takes 64 MiB and
// about 0.2 s of processor time.
func (k *PrivateKey) Encrypt(passphrase []byte) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(k.key)
	if err != nil {
		return nil, err
	}
	text, err := encrypted.Encrypt(der, passphrase)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: sigstoreBlock, Bytes: text}), nil
}

// ParsePrivateKey decrypts the file of a key, as Encrypt or cosign wrote it. The error is [ErrPassphrase] if the passphrase is
// wrong. Only the three sets of scrypt's parameters that sigstore writes are accepted: a file asks for at most 128 MiB.
func ParsePrivateKey(file, passphrase []byte) (*PrivateKey, error) {
	block, err := onlyBlock(file)
	if err != nil {
		return nil, err
	}
	if block.Type != sigstoreBlock && block.Type != cosignBlock {
		return nil, fmt.Errorf("it has %s: a private key is in a block named %s: "+
			"wasmres keygen makes one, cosign import-key-pair encrypts an existing key", describeBlock(block.Type), sigstoreBlock)
	}
	der, err := decrypt(block.Bytes, passphrase)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, errors.New("its decrypted contents are not the PKCS #8 of a private key: make the key again")
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, unsupported(parsed)
	}
	return newPrivateKey(key)
}

// decrypt tells a wrong passphrase from a file that no passphrase decrypts by the library's text: it has no error value.
func decrypt(text, passphrase []byte) ([]byte, error) {
	der, err := encrypted.Decrypt(text, passphrase)
	switch {
	case err == nil:
		return der, nil
	case strings.Contains(err.Error(), "decryption failed"):
		return nil, ErrPassphrase
	}
	return nil, errors.New("its block is not encrypted as sigstore does, with scrypt at its parameters and secretbox: make the key again")
}

// onlyBlock returns the one PEM block of a file. Nothing but space may surround it, so that two programs cannot find different
// keys in one file.
func onlyBlock(file []byte) (*pem.Block, error) {
	if len(file) > MaxKeyFile {
		return nil, fmt.Errorf("it has more than %d bytes: it is no file of a key", MaxKeyFile)
	}
	text := strings.TrimSpace(string(file))
	block, rest := pem.Decode([]byte(text + "\n"))
	if block == nil || !strings.HasPrefix(text, "-----BEGIN "+block.Type+"-----") {
		return nil, errors.New("it is no PEM file: a key begins with -----BEGIN")
	}
	if strings.TrimSpace(string(rest)) != "" {
		return nil, errors.New("it has text after the key: a file has one key")
	}
	return block, nil
}

// describeBlock names the type of a PEM block in an error.
func describeBlock(name string) string {
	switch name {
	case publicBlock:
		return "a public key, whose file is NAME.pub"
	case sigstoreBlock, cosignBlock:
		return "an encrypted private key, whose file is NAME.key"
	case "PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY":
		return "a private key that is not encrypted as sigstore does it"
	case "CERTIFICATE":
		return "a certificate"
	}
	return fmt.Sprintf("a block named %.50q", name)
}

// unsupported says of which kind a key is.
func unsupported(key any) error {
	kind := fmt.Sprintf("%T", key)
	switch k := key.(type) {
	case *rsa.PublicKey, *rsa.PrivateKey:
		kind = "RSA"
	case ed25519.PublicKey, ed25519.PrivateKey:
		kind = "Ed25519"
	case *ecdsa.PublicKey:
		kind = "ECDSA on " + k.Curve.Params().Name
	case *ecdsa.PrivateKey:
		kind = "ECDSA on " + k.Curve.Params().Name
	}
	return fmt.Errorf("it is a key of %s: only ECDSA on P-256 is supported: wasmres keygen makes such a key", kind)
}
