package dashboard_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/certificate/certtest"
	"github.com/wasmres/wasmres/internal/dashboard"
	"github.com/wasmres/wasmres/internal/tenant"
)

// A person signs in by the certificate that their browser shows, and has its role on connections that show it, and on no others.
func TestSignInByCertificate(t *testing.T) {
	ca, h := certtest.NewAuthority(t), admintest.New(t)
	h.SetClients(tenant.AdminClient{Name: "ada.example", Role: "auditor"}, tenant.AdminClient{Name: "bob.example", Role: "tenant-admin", Tenant: "acme"})
	api, err := admin.New(h.Config())
	if err != nil {
		t.Fatal(err)
	}
	pages, err := dashboard.New(dashboard.Config{API: api})
	if err != nil {
		t.Fatal(err)
	}
	checkTraffic(t, pages)
	server := httptest.NewUnstartedServer(pages)
	server.TLS = &tls.Config{
		Certificates: []tls.Certificate{ca.Issue(t, &x509.Certificate{})}, ClientCAs: ca.Pool(), ClientAuth: tls.VerifyClientCertIfGiven,
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	of := func(names ...string) *browser { // all have the same cookies
		config := &tls.Config{RootCAs: ca.Pool()}
		if len(names) > 0 {
			config.Certificates = []tls.Certificate{ca.Issue(t, &x509.Certificate{DNSNames: names})}
		}
		transport := &http.Transport{TLSClientConfig: config}
		t.Cleanup(transport.CloseIdleConnections)
		return &browser{&http.Client{Transport: transport, Jar: jar}, &site{Host: h, url: server.URL, tls: server}}
	}
	by := url.Values{"by": {"certificate"}}
	for _, names := range [][]string{nil, {"eve.example"}} {
		if status, page := of(names...).post(t, "/ui/sign-in", by); status != http.StatusUnauthorized || strings.Contains(page, "Sign out") || strings.Contains(page, "with the certificate") {
			t.Errorf("certificate of %v: %d %s", names, status, page)
		}
	}
	ada := of("ada.example")
	if _, page := ada.get(t, "/ui/"); !strings.Contains(page, "Sign in with the certificate") || !strings.Contains(page, "ada.example") {
		t.Fatalf("the page for signing in: %s", page)
	}
	if status, page := ada.post(t, "/ui/sign-in", by); status != http.StatusOK || !strings.Contains(page, "Sign out") || !strings.Contains(page, "auditor") {
		t.Fatalf("signing in: %d %s", status, page)
	}
	if status, _ := ada.get(t, "/ui/ledger"); status != http.StatusOK {
		t.Errorf("the ledger: %d", status)
	}
	if status, _ := ada.get(t, "/ui/admin-keys"); status != http.StatusForbidden {
		t.Errorf("the admin keys, for an auditor: %d", status)
	}
	cookies := jar.Cookies(&url.URL{Scheme: "https", Host: strings.TrimPrefix(server.URL, "https://"), Path: "/"})
	for _, names := range [][]string{nil, {"bob.example"}, {"eve.example"}} {
		jar.SetCookies(&url.URL{Scheme: "https", Host: strings.TrimPrefix(server.URL, "https://"), Path: "/"}, cookies)
		if _, page := of(names...).get(t, "/ui/ledger"); !strings.Contains(page, "<h1>Sign in") {
			t.Errorf("the cookie of another one with the certificate of %v: %s", names, page)
		}
	}
	if status, page := ada.get(t, "/ui/ledger"); status != http.StatusOK || !strings.Contains(page, "Sign out") {
		t.Errorf("the session of ada has ended: %d", status)
	}
	h.SetClients(tenant.AdminClient{Name: "bob.example", Role: "tenant-admin", Tenant: "acme"})
	if _, page := ada.get(t, "/ui/ledger"); !strings.Contains(page, "<h1>Sign in") {
		t.Error("a certificate that the settings name no more is good")
	}
	bob := of("bob.example")
	if _, page := bob.post(t, "/ui/sign-in", by); !strings.Contains(page, "tenant-admin of acme") {
		t.Errorf("bob: %s", page)
	}
}
