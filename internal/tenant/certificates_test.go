package tenant_test

import (
	"bytes"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/certificate/certtest"
	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/internal/tenant"
)

const mtls = "roles: {r: [{uris: [\"**\"]}]}\nauth: {mtls: {ca: ca.pem, map: {\"spiffe://acme/**\": [r]}}}\n"

// The authorities of a tenant are those of their file, as it is at each reading.
func TestTheAuthoritiesOfATenant(t *testing.T) {
	w := newWorld(t, with(plans, map[string]string{"tenants/acme.yaml": mtls}))
	file := filepath.Join(w.dir, "tenants", "ca.pem")
	w.read()
	if problem := w.snapshot.Problems["acme"]; !strings.Contains(problem, "acme.yaml:2:19: the authorities cannot be read: ") {
		t.Errorf("without the file: %q", problem)
	}
	var last string
	for range 2 { // the second replaces the first
		certtest.WriteCert(t, certtest.NewAuthority(t).Cert, file)
		w.read()
		acme := w.snapshot.Tenants["acme"]
		if acme == nil || acme.Certificates == nil {
			t.Fatal(w.snapshot.Problems)
		}
		text, err := os.ReadFile(file)
		if err != nil || acme.Certificates.Authorities != string(text) || acme.Certificates.Authorities == last {
			t.Errorf("got %q, %v", acme.Certificates.Authorities, err)
		}
		last = acme.Certificates.Authorities
		given := &tenant.Given{Settings: w.settings, Now: w.snapshot}
		again, err := given.Tenant("acme", acme.Encode())
		if err != nil || again.Certificates.Authorities != last || len(again.Certificates.RolesOf("spiffe://acme/ada")) != 1 {
			t.Errorf("as the API is given it: %v", strict.ProblemsOf(err).Error())
		}
		if _, err := given.Tenant("acme", []byte(mtls)); err == nil || !strings.Contains(strict.ProblemsOf(err).Error(), "the text of certificates in ca") {
			t.Errorf("a file that the API names: %v", err)
		}
	}
	ca := certtest.NewAuthority(t)
	client := filepath.Join(w.dir, "tenants", "client.pem")
	certtest.Write(t, ca.Issue(t, &x509.Certificate{DNSNames: []string{"ada.example"}}), client, filepath.Join(w.dir, "tenants", "key.pem"))
	for name, c := range map[string]struct{ old, new, want string }{
		"no authority": {"ca.pem", "client.pem", "is not that of an authority"},
		"a policy":     {"ca.pem", "../serve.yaml", "cannot be read"},
		"unknown role": {"[r]", "[q]", `no role "q"`},
		"a wrong name": {"spiffe://acme/**", "a*b", "is no name of certificates"},
		"nothing":      {", map: {\"spiffe://acme/**\": [r]}", "", "map"},
		"as a policy":  {"auth:", "providers: {p: {policy: ca.pem}}\nauth:", "has certificates, and no policy"},
	} {
		changed := strings.Replace(mtls, c.old, c.new, 1)
		write(t, w.dir, map[string]string{"tenants/acme.yaml": changed})
		w.read()
		if problem := w.snapshot.Problems["acme"]; !strings.Contains(problem, c.want) {
			t.Errorf("%s: %q", name, problem)
		}
	}
	write(t, w.dir, map[string]string{"tenants/acme.yaml": mtls})
	key, err := os.ReadFile(filepath.Join(w.dir, "tenants", "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Join([][]byte{[]byte(last), key}, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	w.read()
	if problem := w.snapshot.Problems["acme"]; !strings.Contains(problem, "keep private keys elsewhere") {
		t.Errorf("with a private key: %q", problem)
	}
}
