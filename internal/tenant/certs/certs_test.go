package certs_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/certificate/certtest"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/certs"
	"github.com/wasmres/wasmres/internal/tenant/keys"
	"github.com/wasmres/wasmres/runtime/auth"
)

func pemOf(authorities ...*certtest.Authority) string {
	var b strings.Builder
	for _, a := range authorities {
		_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: a.Cert.Raw})
	}
	return b.String()
}

// acme accepts certificates of authorities.
func acme(authorities ...*certtest.Authority) *tenant.Tenant {
	role := func(name string) tenant.Role {
		return tenant.Role{Name: name, Rules: []tenant.Rule{{Actions: []string{"read"}, URIs: []string{"notes://" + name + "/**"}}}}
	}
	return &tenant.Tenant{
		ID: "acme", Roles: []tenant.Role{role("admin"), role("reader"), role("writer")},
		Certificates: &tenant.Certificates{Authorities: pemOf(authorities...), Roles: map[string][]string{
			"spiffe://acme/**": {"reader"}, "spiffe://acme/ada": {"writer"}, "*.acme.example": {"reader"}, "ops.acme.example": {"admin"}, "CN=ada,O=Acme": {"admin"},
		}},
	}
}

type world struct {
	t   *testing.T
	set *certs.Set
	now time.Time
}

func newWorld(t *testing.T, of *tenant.Tenant) *world {
	t.Helper()
	w := &world{t: t, now: time.Now()}
	k := keys.NewSet(keys.Config{})
	w.set = certs.New(certs.Config{Others: k, Keys: k, Now: func() time.Time { return w.now }})
	t.Cleanup(func() { _, _ = w.set.Close(), k.Close() })
	w.update(of)
	return w
}

func (w *world) update(of ...*tenant.Tenant) {
	s := &tenant.Snapshot{Tenants: map[string]*tenant.Tenant{}}
	for _, t := range of {
		s.Tenants[t.ID] = t
	}
	w.set.Update(s)
}

// show authenticates a client with certificates.
func (w *world) show(tenantID string, shown ...tls.Certificate) (*auth.Identity, error) {
	state := &tls.ConnectionState{}
	for _, one := range shown {
		state.PeerCertificates = append(state.PeerCertificates, one.Leaf)
	}
	return w.set.Authenticator(tenantID).Authenticate(auth.Credential{TLS: state, Address: netip.MustParseAddr("192.0.2.1")})
}

func reads(i *auth.Identity) (roles string) {
	for _, role := range []string{"admin", "reader", "writer"} {
		if i.Permits(auth.Read, "notes://"+role+"/a") {
			roles += role + " "
		}
	}
	return strings.TrimSpace(roles)
}

func uri(text string) *x509.Certificate {
	u, err := url.Parse(text)
	if err != nil {
		panic(err)
	}
	return &x509.Certificate{URIs: []*url.URL{u}}
}

// A certificate has the roles of its URIs, or else of its DNS names, or else of its subject.
func TestCertificatesHaveRoles(t *testing.T) {
	ca := certtest.NewAuthority(t)
	w := newWorld(t, acme(ca))
	subject := &x509.Certificate{Subject: certtest.Name("ada")}
	subject.Subject.Organization = []string{"Acme"}
	both := uri("spiffe://acme/ben")
	both.DNSNames, both.Subject = []string{"ops.acme.example"}, subject.Subject
	foreign := uri("spiffe://zoo/ben")
	foreign.DNSNames = []string{"ops.acme.example"}
	for name, c := range map[string]struct {
		of            *x509.Certificate
		roles, called string
	}{
		"URI":                     {uri("spiffe://acme/ben"), "reader", "spiffe://acme/ben"},
		"URI of two patterns":     {uri("spiffe://acme/ada"), "reader writer", "spiffe://acme/ada"},
		"below an exact URI":      {uri("spiffe://acme/ada/x"), "reader", "spiffe://acme/ada/x"},
		"URI before other names":  {both, "reader", "spiffe://acme/ben"},
		"DNS name":                {&x509.Certificate{DNSNames: []string{"x.acme.example"}}, "reader", "x.acme.example"},
		"DNS name of two":         {&x509.Certificate{DNSNames: []string{"OPS.acme.example"}}, "admin reader", "OPS.acme.example"},
		"DNS name of two labels":  {&x509.Certificate{DNSNames: []string{"x.y.acme.example"}}, "", "x.y.acme.example"},
		"DNS name after a URI":    {foreign, "admin reader", "ops.acme.example"},
		"subject":                 {subject, "admin", "CN=ada,O=Acme"},
		"part of a subject":       {&x509.Certificate{Subject: certtest.Name("ada")}, "", "CN=ada"},
		"URI that no pattern has": {uri("spiffe://acme2/ada"), "", "spiffe://acme2/ada"},
	} {
		i, err := w.show("acme", ca.Issue(t, c.of))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := reads(i); got != c.roles || i.Principal().Subject != "certificate:"+c.called {
			t.Errorf("%s: got %q as %s", name, got, i.Principal().Subject)
		}
	}
}

func TestBadCertificatesAreRefused(t *testing.T) {
	ca, other := certtest.NewAuthority(t), certtest.NewAuthority(t)
	w := newWorld(t, acme(ca))
	expired, server := uri("spiffe://acme/ada"), uri("spiffe://acme/ada")
	expired.NotAfter = time.Now().Add(-time.Hour)
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	many := make([]tls.Certificate, 20)
	for i := range many {
		many[i] = ca.Issue(t, uri("spiffe://acme/ada"))
	}
	for name, shown := range map[string][]tls.Certificate{
		"another authority": {other.Issue(t, uri("spiffe://acme/ada"))},
		"expired":           {ca.Issue(t, expired)},
		"of a server":       {ca.Issue(t, server)},
		"without a name":    {ca.Issue(t, &x509.Certificate{})},
		"long name":         {ca.Issue(t, uri("spiffe://acme/"+strings.Repeat("a", 300)))},
		"hidden characters": {ca.Issue(t, &x509.Certificate{Subject: certtest.Name("ada\u202e")})},
		"many certificates": many,
	} {
		for range 2 { // the second time it is known
			if i, err := w.show("acme", shown...); !errors.Is(err, auth.ErrInvalid) {
				t.Errorf("%s: %v, %v", name, i, err)
			}
		}
	}
	if _, err := w.show("acme"); !errors.Is(err, auth.ErrMissing) {
		t.Errorf("without a certificate: %v", err)
	}
	good := ca.Issue(t, uri("spiffe://acme/ada"))
	state := &tls.ConnectionState{PeerCertificates: []*x509.Certificate{good.Leaf}}
	if _, err := w.set.Authenticator("acme").Authenticate(auth.Credential{TLS: state, Authorization: "Bearer x"}); !errors.Is(err, auth.ErrInvalid) {
		t.Errorf("beside a bad key: %v", err)
	}
}

// An address that has shown many bad certificates has to wait.
func TestManyBadCertificates(t *testing.T) {
	ca, other := certtest.NewAuthority(t), certtest.NewAuthority(t)
	w := newWorld(t, acme(ca))
	var err error
	for range 20 {
		_, err = w.show("acme", other.Issue(t, uri("spiffe://acme/ada")))
	}
	var many *auth.TooManyError
	if !errors.As(err, &many) || many.RetryAfter <= 0 {
		t.Errorf("got %v", err)
	}
}

// What a tenant does not accept any more ends, at once.
func TestCertificatesEnd(t *testing.T) {
	ca, next := certtest.NewAuthority(t), certtest.NewAuthority(t)
	of := acme(ca)
	w := newWorld(t, of)
	cert := ca.Issue(t, uri("spiffe://acme/ada"))
	show := func() *auth.Identity {
		t.Helper()
		i, err := w.show("acme", cert)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	first := show()
	same := *acme(ca)
	same.Plan = "other"
	w.update(&same)
	if show() != first || !w.set.Asks() {
		t.Error("another plan ends certificates")
	}
	for name, change := range map[string]func(*tenant.Tenant){
		"authority": func(t *tenant.Tenant) { t.Certificates.Authorities = pemOf(next) },
		"roles":     func(t *tenant.Tenant) { t.Roles[1].Rules[0].URIs = []string{"notes://x"} },
		"disabled":  func(t *tenant.Tenant) { t.Disabled = true },
		"none":      func(t *tenant.Tenant) { t.Certificates = nil },
	} {
		w.update(acme(ca))
		was := show()
		changed := acme(ca)
		change(changed)
		w.update(changed)
		if was.Valid() {
			t.Errorf("%s: the identity lives on", name)
		}
		if i, err := w.show("acme", cert); name != "roles" && err == nil {
			t.Errorf("%s: got %v", name, i)
		}
		if accepts := name == "authority" || name == "roles"; w.set.Asks() != accepts {
			t.Errorf("%s: clients are asked for certificates: %t", name, !accepts)
		}
	}
	w.update(acme(ca), &tenant.Tenant{ID: "zoo"})
	if _, err := w.show("zoo", cert); !errors.Is(err, auth.ErrMissing) {
		t.Errorf("a certificate of another tenant: %v", err)
	}
	_ = show()
	w.now = time.Now().Add(48 * time.Hour)
	if _, err := w.show("acme", cert); !errors.Is(err, auth.ErrInvalid) {
		t.Errorf("after its end: %v", err)
	}
}
