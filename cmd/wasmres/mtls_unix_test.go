//go:build unix

package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/certificate/certtest"
	"github.com/wasmres/wasmres/internal/guesttest"
)

// Clients of a tenant show certificates of its authority to the server, until the file has another one.
func TestServeToClientsWithCertificates(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ca, other := certtest.NewAuthority(t), certtest.NewAuthority(t)
	certtest.Write(t, ca.Issue(t, &x509.Certificate{DNSNames: []string{"localhost"}}), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	write("serve.yaml", "listen: [{address: \"127.0.0.1:0\", tls: {cert: cert.pem, key: key.pem}}]\ndata: data\nwatch: false\n")
	tenantFile := fmt.Sprintf("providers:\n  hello: {module: %q}\nroles:\n  reader: [{uris: [\"**\"]}]\n", guesttest.File(t, "hello"))
	write("tenants/acme.yaml", tenantFile+"auth: {mtls: {ca: ../ca.pem, map: {\"spiffe://acme/**\": [reader]}}}\n")
	certtest.WriteCert(t, ca.Cert, filepath.Join(dir, "ca.pem"))
	cmd := exec.Command("wasmres", "serve", "--config", filepath.Join(dir, "serve.yaml"), "--log-format", "json", "--cache-dir", guesttest.CacheDir(t))
	_, _, d := startRun(t, cmd)
	endpoint := d.await(t, `"url":"(https://127\.0\.0\.1:\d+)/t/`)[1]
	d.await(t, `"msg":"operators can connect"`)
	read := func(version2 bool, own ...tls.Certificate) int {
		t.Helper()
		c := &http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: ca.Pool(), Certificates: own}, ForceAttemptHTTP2: version2, DisableKeepAlives: !version2,
		}}
		defer c.CloseIdleConnections()
		answer, err := c.Get(endpoint + "/t/acme/mcp?uri=hello://about")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, answer.Body)
		return answer.StatusCode
	}
	named := func(by *certtest.Authority, name string) tls.Certificate {
		u, err := url.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		return by.Issue(t, &x509.Certificate{URIs: []*url.URL{u}})
	}
	ada := named(ca, "spiffe://acme/ada")
	for _, version2 := range []bool{false, true} {
		if got := read(version2, ada); got != http.StatusOK {
			t.Errorf("with a certificate: %d", got)
		}
	}
	for name, got := range map[string]int{
		"none": read(false), "of another authority": read(false, named(other, "spiffe://acme/ada")),
	} {
		if got != http.StatusUnauthorized {
			t.Errorf("certificate %s: %d", name, got)
		}
	}
	if got := read(false, named(ca, "spiffe://zoo/ada")); got != http.StatusForbidden && got != http.StatusNotFound {
		t.Errorf("certificate without a role: %d", got)
	}
	certtest.WriteCert(t, other.Cert, filepath.Join(dir, "ca.pem"))
	operator{t, admintest.Validate(t, filepath.Join(dir, "data", "admin.sock"))}.run("reload", 0, `^set +acme$`, `\A\z`)
	if got := read(false, ada); got != http.StatusUnauthorized {
		t.Errorf("with a certificate of the authority before: %d", got)
	}
	if got := read(false, named(other, "spiffe://acme/ada")); got != http.StatusOK {
		t.Errorf("with a certificate of the new authority: %d", got)
	}
}
