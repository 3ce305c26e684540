package bundle_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"

	"github.com/wasmres/wasmres/registry/internal/bundle"
)

// passphrase is that of the vectors of cosign.
const passphrase = "correct horse"

func TestKeysOfCosign(t *testing.T) {
	if testing.Short() {
		t.Skip("it derives keys, which is slow on purpose")
	}
	key, err := bundle.ParsePrivateKey(read(t, "cosign.key"), []byte(passphrase))
	if err != nil {
		t.Fatal(err)
	}
	if got := key.Public().PEM(); !bytes.Equal(got, read(t, "cosign.pub")) {
		t.Errorf("the public key is %s", got)
	}
	older := strings.ReplaceAll(string(read(t, "cosign.key")), "SIGSTORE", "COSIGN")
	if _, err := bundle.ParsePrivateKey([]byte(older), []byte(passphrase)); err != nil {
		t.Errorf("with the name that cosign gave its keys before: %v", err)
	}
	if _, err := bundle.ParsePrivateKey(read(t, "cosign.key"), []byte("wrong")); !errors.Is(err, bundle.ErrPassphrase) {
		t.Errorf("a wrong passphrase: %v", err)
	}
}

func TestAKeyIsReadAsItWasWritten(t *testing.T) {
	key, err := bundle.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	file, err := key.Encrypt([]byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := bundle.ParsePrivateKey(file, []byte("secret"))
	if err != nil || again.Public().ID() != key.Public().ID() {
		t.Errorf("%v, %v", again, err)
	}
	public, err := bundle.ParsePublicKey(key.Public().PEM())
	if err != nil || public.ID() != key.Public().ID() || len(public.ID()) != 64 {
		t.Errorf("%v, %v", public, err)
	}
}

func TestOtherKeysAreRefused(t *testing.T) {
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ed, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	good := string(read(t, "cosign.pub"))
	for name, test := range map[string]struct{ file, want string }{
		"empty":             {"", "no PEM file"},
		"a text before it":  {"key:\n" + good, "no PEM file"},
		"a second key":      {good + good, "after the key"},
		"huge":              {good + strings.Repeat("\n", bundle.MaxKeyFile), "more than"},
		"the private key":   {string(read(t, "cosign.key")), "an encrypted private key, whose file is NAME.key"},
		"a certificate":     {"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n", "a certificate"},
		"no DER":            {"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "not the DER"},
		"P-384":             {string(publicFile(t, &p384.PublicKey)), "ECDSA on P-384"},
		"RSA":               {string(publicFile(t, &rsaKey.PublicKey)), "RSA"},
		"Ed25519":           {string(publicFile(t, ed)), "Ed25519"},
		"a block of others": {"-----BEGIN PGP KEY-----\n-----END PGP KEY-----\n", `"PGP KEY"`},
	} {
		if _, err := bundle.ParsePublicKey([]byte(test.file)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func TestOtherPrivateKeysAreRefused(t *testing.T) {
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(ed)
	if err != nil {
		t.Fatal(err)
	}
	salt := base64.StdEncoding.EncodeToString(make([]byte, 32))
	costly := `{"kdf":{"name":"scrypt","params":{"N":1073741824,"r":8,"p":1},"salt":"` + salt + `"},` +
		`"cipher":{"name":"nacl/secretbox","nonce":"` + salt + `"},"ciphertext":"AAAA"}`
	for name, test := range map[string]struct{ file, want string }{
		"the public key":        {string(read(t, "cosign.pub")), "a public key, whose file is NAME.pub"},
		"not encrypted":         {"-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", "not encrypted"},
		"no JSON":               {privateFile([]byte("hello")), "is not encrypted as sigstore does"},
		"no cipher":             {privateFile([]byte("{}")), "is not encrypted as sigstore does"},
		"scrypt with a TiB":     {privateFile([]byte(costly)), "is not encrypted as sigstore does"},
		"Ed25519":               {privateFile(encrypt(t, der)), "Ed25519"},
		"no key, but encrypted": {privateFile(encrypt(t, []byte("hello"))), "not the PKCS #8"},
	} {
		_, err := bundle.ParsePrivateKey([]byte(test.file), []byte("secret"))
		if err == nil || errors.Is(err, bundle.ErrPassphrase) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func privateFile(block []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED SIGSTORE PRIVATE KEY", Bytes: block}))
}

// encrypt encrypts with the smallest parameters that are accepted: those of cosign before version 2.
func encrypt(t *testing.T, text []byte) []byte {
	t.Helper()
	b, err := encrypted.EncryptWithCustomKDFParameters(text, []byte("secret"), encrypted.Legacy)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func FuzzPublicKey(f *testing.F) {
	f.Add(read(f, "cosign.pub"))
	f.Fuzz(func(t *testing.T, file []byte) {
		key, err := bundle.ParsePublicKey(file)
		if err != nil {
			return
		}
		if again, err := bundle.ParsePublicKey(key.PEM()); err != nil || again.ID() != key.ID() {
			t.Errorf("%v, %v", again, err)
		}
	})
}

// The seed is of an unknown cipher: inputs that have scrypt run would take the time of the others.
func FuzzPrivateKey(f *testing.F) {
	f.Add([]byte(privateFile([]byte(`{"kdf":{"name":"scrypt"},"cipher":{"name":"x"}}`))))
	f.Fuzz(func(t *testing.T, file []byte) {
		if _, err := bundle.ParsePrivateKey(file, []byte("secret")); err == nil {
			t.Error("a key that cannot be decrypted was accepted")
		}
	})
}
