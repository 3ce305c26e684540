package registry

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/wasmres/wasmres/registry/internal/bundle"
	"github.com/wasmres/wasmres/registry/internal/oci"
)

// ErrPassphrase says that a passphrase does not decrypt a private key.
var ErrPassphrase = bundle.ErrPassphrase

// A KeyPair has the two files of a key of ECDSA on P-256. cosign reads them as its own.
type KeyPair struct {
	Private []byte // PEM, encrypted with a passphrase
	Public  []byte // PEM
}

// GenerateKey makes a key, whose private file the passphrase encrypts. An empty passphrase is permitted: then the file itself
// is the secret.
func GenerateKey(passphrase []byte) (KeyPair, error) {
	key, err := bundle.GenerateKey()
	if err != nil {
		return KeyPair{}, err
	}
	private, err := key.Encrypt(passphrase)
	return KeyPair{private, key.Public().PEM()}, err
}

// Write writes NAME.key, which only the user may read, and NAME.pub. It replaces no file.
func (k KeyPair) Write(name string) error {
	if err := create(name+".key", k.Private, 0o600); err != nil {
		return fmt.Errorf("write the private key: %w", err)
	}
	if err := create(name+".pub", k.Public, 0o644); err != nil {
		return errors.Join(fmt.Errorf("write the public key: %w", err), os.Remove(name+".key"))
	}
	return nil
}

// create writes a new file to the disk, and leaves none that is not whole.
func create(file string, text []byte, mode os.FileMode) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return nil
}

// A Signer signs with a private key. It may be used concurrently.
type Signer struct{ key *bundle.PrivateKey }

// LoadSigner reads the file of a private key: of GenerateKey, or of cosign generate-key-pair. The error is [ErrPassphrase] if
// the passphrase is wrong. It takes about 0.2 s of processor time, as passphrases are guessed otherwise.
func LoadSigner(file string, passphrase []byte) (*Signer, error) {
	text, err := readKey(file)
	if err != nil {
		return nil, err
	}
	key, err := bundle.ParsePrivateKey(text, passphrase)
	if err != nil {
		return nil, fmt.Errorf("the private key %s cannot be used: %w", file, err)
	}
	return &Signer{key}, nil
}

// Sign returns a signature of a manifest: a sigstore bundle, to be stored as a referrer of the manifest.
func (s *Signer) Sign(manifest Descriptor) ([]byte, error) {
	if err := oci.CheckDescriptor(manifest, oci.MaxManifest); err != nil {
		return nil, fmt.Errorf("sign a manifest: %w", err)
	}
	return s.key.Sign(manifest.Digest)
}

// PublicKey returns the key that verifies the signatures.
func (s *Signer) PublicKey() *PublicKey { return &PublicKey{s.key.Public()} }

// A PublicKey verifies signatures. It is immutable.
type PublicKey struct{ key *bundle.PublicKey }

// LoadPublicKey reads the file of a public key.
func LoadPublicKey(file string) (*PublicKey, error) {
	text, err := readKey(file)
	if err != nil {
		return nil, err
	}
	key, err := bundle.ParsePublicKey(text)
	if err != nil {
		return nil, fmt.Errorf("the public key %s cannot be used: %w", file, err)
	}
	return &PublicKey{key}, nil
}

// ID identifies the key: the SHA-256 of its DER, in hexadecimal, as openssl pkey -pubin -outform der | sha256sum prints it.
func (k *PublicKey) ID() string { return k.key.ID() }

// PEM returns the file of the key.
func (k *PublicKey) PEM() []byte { return k.key.PEM() }

// readKey reads a regular file of at most [bundle.MaxKeyFile] bytes.
func readKey(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file of a key: it is %v", file, info.Mode().Type())
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, bundle.MaxKeyFile+1))
}
