package tenant

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/internal/pathpattern"
)

// Certificates say which certificates of clients a tenant accepts, and which roles their names have.
type Certificates struct {
	Authorities string              `json:"authorities"` // certificates in PEM that sign those of clients
	Roles       map[string][]string `json:"roles"`       // names of roles, by patterns of names
}

// maxAuthorities bounds how many authorities a tenant has.
const maxAuthorities = 100

// certificateText begins a certificate in PEM.
const certificateText = "-----BEGIN CERTIFICATE-----"

// mtlsFile is what the file of a tenant says of the certificates of clients.
type mtlsFile struct {
	CA  string              `yaml:"ca,required" doc:"the file, from the folder of this file, with the authorities in PEM that sign the certificates of clients, or its text"`
	Map map[string][]string `yaml:"map,required" keys:"line" check:"object name" doc:"roles by names of certificates: a pattern of URIs, as spiffe://acme/**, a DNS name, as ada.example or *.example, or a subject, as CN=ada,O=Acme"`
}

// certificates returns what f says; nil for a nil f.
func (r *tenantReader) certificates(f *mtlsFile, roles map[string][]ruleFile) *Certificates {
	if f == nil {
		return nil
	}
	at := []string{"auth", "mtls"}
	c := &Certificates{Authorities: f.CA, Roles: f.Map}
	if !strings.Contains(f.CA, certificateText) {
		file := r.policies(r.path(f.CA))
		r.used = append(r.used, file)
		switch {
		case file.authorities != "":
			c.Authorities = file.authorities
		case file.policy == nil && file.err != nil:
			r.fail(append(at, "ca"), "the authorities cannot be read: %v", file.err)
			return nil
		default:
			r.fail(append(at, "ca"), "%s has no certificate in PEM", f.CA)
			return nil
		}
	}
	if err := checkAuthorities(c.Authorities); err != nil {
		r.fail(append(at, "ca"), "%v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Map)) {
		if err := checkCertificateName(name); err != nil {
			r.fail(append(at, "map", name), "%v", err)
		}
		r.checkRoles(f.Map[name], roles, "auth", "mtls", "map", name)
	}
	return c
}

// checkAuthorities checks that a text has authorities in PEM, and nothing else.
func checkAuthorities(text string) error {
	n := 0
	for rest := []byte(text); ; n++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return fmt.Errorf("the authorities have a block %.40q: leave only certificates, and keep private keys elsewhere", block.Type)
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		switch {
		case err != nil:
			return fmt.Errorf("certificate %d of the authorities cannot be read: %w", n+1, err)
		case !cert.IsCA:
			return fmt.Errorf("certificate %d of the authorities, of %.100s, is not that of an authority", n+1, cert.Subject)
		case n == maxAuthorities:
			return fmt.Errorf("there are more than %d authorities", maxAuthorities)
		}
	}
	if n == 0 {
		return errors.New("the authorities have no certificate in PEM")
	}
	return nil
}

// checkCertificateName checks a pattern of names of certificates.
func checkCertificateName(name string) error {
	switch {
	case strings.Contains(name, "://"):
		_, err := pathpattern.Compile(name)
		return err
	case strings.Contains(name, "="):
		return nil
	case strings.Contains(strings.TrimPrefix(name, "*."), "*"), strings.ContainsAny(name, "/ :"), name == "":
		return fmt.Errorf("%.100q is no name of certificates: write a pattern of URIs, as spiffe://acme/**, a DNS name, as *.acme.example, or a subject, as CN=ada,O=Acme", name)
	}
	return nil
}

// RolesOf returns the names of the roles of a name that a certificate has, sorted: a URI, a DNS name or a subject.
func (c *Certificates) RolesOf(name string) (roles []string) {
	for pattern, names := range c.Roles {
		if matchesCertificate(pattern, name) {
			roles = append(roles, names...)
		}
	}
	slices.Sort(roles)
	return slices.Compact(roles)
}

func matchesCertificate(pattern, name string) bool {
	isURI := strings.Contains(pattern, "://")
	switch {
	case isURI && strings.Contains(pattern, "*"): // one without matches exactly itself
		p, err := pathpattern.Compile(pattern)
		return err == nil && strings.Contains(name, "://") && p.Match(name)
	case isURI, strings.Contains(name, "://"), strings.Contains(pattern, "="), strings.Contains(name, "="):
		return pattern == name
	}
	pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	if rest, ok := strings.CutPrefix(pattern, "*"); ok { // one label
		label, found := strings.CutSuffix(name, rest)
		return found && label != "" && !strings.Contains(label, ".")
	}
	return pattern == name
}
