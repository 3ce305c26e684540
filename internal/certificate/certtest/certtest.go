// Package certtest issues certificates for tests. Only tests import it.
package certtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"testing"
	"time"
)

// An Authority issues certificates.
type Authority struct {
	Cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Name gives a subject.
func Name(common string) pkix.Name { return pkix.Name{CommonName: common} }

// NewAuthority makes an Authority.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: Name("authority"), NotBefore: time.Now().Add(-24 * time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.Cert = sign(t, template, template, &a.key.PublicKey, a.key)
	return a
}

// Issue issues a certificate for servers at 127.0.0.1 and for clients. template has its names and more addresses, and
// perhaps other usages; its end is tomorrow, if it has none.
func (a *Authority) Issue(t testing.TB, template *x509.Certificate) tls.Certificate {
	t.Helper()
	key, c := newKey(t), *template
	c.SerialNumber, c.NotBefore = serial(t), time.Now().Add(-2*time.Hour)
	c.IPAddresses = append([]net.IP{net.IPv4(127, 0, 0, 1)}, template.IPAddresses...)
	if c.ExtKeyUsage == nil {
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	}
	if c.NotAfter.IsZero() {
		c.NotAfter = a.Cert.NotAfter
	}
	leaf := sign(t, &c, a.Cert, &key.PublicKey, a.key)
	return tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}
}

// Pool gives a pool with the Authority alone.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.Cert)
	return pool
}

// Write writes a certificate and its key to files.
func Write(t testing.TB, c tls.Certificate, certFile, keyFile string) {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, keyFile, "PRIVATE KEY", key)
	WriteCert(t, c.Leaf, certFile)
}

// WriteCert writes a certificate to a file.
func WriteCert(t testing.TB, c *x509.Certificate, file string) {
	t.Helper()
	writePEM(t, file, "CERTIFICATE", c.Raw)
}

func writePEM(t testing.TB, file, kind string, b []byte) {
	t.Helper()
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
		t.Fatal(err)
	}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func serial(t testing.TB) *big.Int {
	t.Helper()
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 100))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func sign(t testing.TB, template, parent *x509.Certificate, public *ecdsa.PublicKey, key *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
