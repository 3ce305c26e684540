package auth

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"strings"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/printable"
)

// Certificates authenticates clients by the certificates that TLS has verified (mutual TLS). Such a client may do
// everything while its certificate is valid.
type Certificates struct{}

// Challenge implements [Authenticator]: no header can ask for a certificate.
func (Certificates) Challenge(string) string { return "" }

// Authenticate implements [Authenticator].
func (Certificates) Authenticate(c Credential) (*Identity, error) {
	leaf := verified(c.TLS)
	if leaf == nil {
		return nil, ErrMissing
	}
	name := subject(leaf)
	if !isSubject(name) {
		return nil, ErrInvalid
	}
	i := NewIdentity(context.Background(), abi.Principal{Subject: name}, FullAccess(AnyURI()), leaf.NotAfter)
	if !i.Valid() {
		return nil, ErrInvalid
	}
	return i, nil
}

const maxSubject = 1 << 10 // bytes

// isSubject reports whether a name can be given to providers and to the log.
func isSubject(name string) bool {
	return name != "" && len(name) <= maxSubject && utf8.ValidString(name) && !strings.ContainsFunc(name, printable.Hidden)
}

// verified gives the certificate of a client; nil if TLS has verified none.
func verified(state *tls.ConnectionState) *x509.Certificate {
	if state == nil || len(state.VerifiedChains) == 0 || len(state.PeerCertificates) == 0 {
		return nil
	}
	return state.PeerCertificates[0]
}

// subject gives the name of a client: the first URI, DNS name or e-mail address of its certificate, else the common name.
func subject(c *x509.Certificate) string {
	switch {
	case len(c.URIs) > 0:
		return c.URIs[0].String()
	case len(c.DNSNames) > 0:
		return c.DNSNames[0]
	case len(c.EmailAddresses) > 0:
		return c.EmailAddresses[0]
	}
	return c.Subject.CommonName
}
