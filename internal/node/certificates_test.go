package node_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wasmres/wasmres/internal/certificate"
	"github.com/wasmres/wasmres/internal/certificate/certtest"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/node"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime"
)

// A certified server has the tenants acme and zoo with hosts and authorities of their own, and open, which takes no certificates.
type certified struct {
	*hosted
	dir     string
	server  *certtest.Authority
	clients map[string]*certtest.Authority // by tenant
}

func hostCertified(t *testing.T) *certified {
	t.Helper()
	c := &certified{dir: filepath.Join(t.TempDir(), "data"), server: certtest.NewAuthority(t), clients: map[string]*certtest.Authority{}}
	c.hosted = &hosted{tb: t, keys: map[string]string{}}
	for _, id := range []string{"acme", "zoo", "open"} {
		mtls := ""
		if id != "open" {
			c.clients[id] = certtest.NewAuthority(t)
			c.accept(id, c.clients[id])
			mtls = fmt.Sprintf("auth: {mtls: {ca: ../%s.pem, map: {\"spiffe://%s/**\": [reader]}}}\n", id, id)
		}
		write(t, filepath.Join(c.dir, "tenants", id+".yaml"), fmt.Sprintf(
			"hosts: [%s.example]\nplan: unbounded\nproviders:\n  hello: {module: %q}\nroles:\n  reader: [{uris: [\"**\"]}]\n%s", id, guesttest.File(t, "hello"), mtls))
	}
	write(t, filepath.Join(c.dir, "serve.yaml"), "listen: [{address: \"127.0.0.1:0\"}]\npublic_url: https://mcp.example\nwatch: false\nplans:\n"+unbounded)
	s, err := tenant.ReadSettings(filepath.Join(c.dir, "serve.yaml"), c.dir)
	if err != nil {
		t.Fatal(err)
	}
	n, report, err := node.Open(t.Context(), node.Config{
		Settings: s, CacheDir: guesttest.CacheDir(t), AccessLog: c.note, Version: "1", Logger: slog.New(slog.NewTextHandler(&c.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Problems) > 0 {
		t.Fatal(report.Problems)
	}
	c.Node = n
	own := c.server.Issue(t, &x509.Certificate{DNSNames: []string{"acme.example", "zoo.example", "open.example", "mcp.example"}})
	certtest.Write(t, own, filepath.Join(c.dir, "cert.pem"), filepath.Join(c.dir, "key.pem"))
	files, err := certificate.Open(certificate.Config{Cert: filepath.Join(c.dir, "cert.pem"), Key: filepath.Join(c.dir, "key.pem")})
	if err != nil {
		t.Fatal(err)
	}
	c.serveTLS(files.Asking(n.AsksForCertificates))
	for _, id := range []string{"acme", "zoo", "open"} {
		c.keys[id] = c.newKey(id)
	}
	return c
}

// accept writes the file of the authorities that sign the certificates of a tenant's clients.
func (c *certified) accept(id string, a *certtest.Authority) {
	write(c.tb, filepath.Join(c.dir, id+".pem"), "")
	certtest.WriteCert(c.tb, a.Cert, filepath.Join(c.dir, id+".pem"))
}

func (c *certified) serveTLS(config *tls.Config) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.tb.Fatal(err)
	}
	c.address = l.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Serve(ctx, l, &runtime.TransportOptions{TLS: config}) }()
	c.tb.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			c.tb.Error(err)
		}
		if err := c.Close(); err != nil {
			c.tb.Error(err)
		}
	})
}

// client has connections for a name, on which it shows its certificates.
func (c *certified) client(version2 bool, name string, sessions tls.ClientSessionCache, own ...tls.Certificate) *http.Client {
	t := &http.Transport{ForceAttemptHTTP2: version2, TLSClientConfig: &tls.Config{
		ServerName: name, RootCAs: c.server.Pool(), ClientSessionCache: sessions,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { // of whichever authority
			if len(own) == 0 {
				return &tls.Certificate{}, nil
			}
			return &own[0], nil
		},
	}, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, c.address)
	}}
	c.tb.Cleanup(t.CloseIdleConnections)
	return &http.Client{Transport: t}
}

// get reads a resource from an endpoint, and returns the status and whether the session of TLS was resumed.
func (c *certified) get(by *http.Client, endpoint, key string) (status int, resumed bool) {
	c.tb.Helper()
	req, err := http.NewRequestWithContext(c.tb.Context(), http.MethodGet, "https://"+endpoint+"?uri=hello://about", nil)
	if err != nil {
		c.tb.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := by.Do(req)
	if err != nil {
		c.tb.Fatal(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, answer.TLS.DidResume
}

// of issues a certificate for a client of a tenant.
func (c *certified) of(t *testing.T, id string) tls.Certificate {
	u, err := url.Parse("spiffe://" + id + "/ada")
	if err != nil {
		t.Fatal(err)
	}
	return c.clients[id].Issue(t, &x509.Certificate{URIs: []*url.URL{u}})
}

// A certificate counts on a connection for the host that it is shown to: all pairs of hosts, certificates and versions of HTTP.
func TestCertificatesAreOfTheHostOfTheirConnection(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes hundreds of connections")
	}
	c := hostCertified(t)
	hosts := []string{"acme.example", "zoo.example", "open.example", "mcp.example"}
	endpoints := map[string]string{ // of the tenants, by host and path
		"acme.example/mcp": "acme", "zoo.example/mcp": "zoo", "open.example/mcp": "open",
		"mcp.example/t/acme/mcp": "acme", "mcp.example/t/zoo/mcp": "zoo", "mcp.example/t/open/mcp": "open",
	}
	hostOf := func(endpoint string) string { return endpoint[:slices.Index([]byte(endpoint), '/')] }
	for _, shown := range []string{"", "acme", "zoo"} {
		var own []tls.Certificate
		if shown != "" {
			own = append(own, c.of(t, shown))
		}
		for _, connected := range hosts {
			for _, version2 := range []bool{false, true} {
				by := c.client(version2, connected, nil, own...)
				for endpoint, to := range endpoints {
					matters := to != "open" || connected == "acme.example" || connected == "zoo.example" // one of both takes certificates
					for _, key := range []string{"", c.keys[to]} {
						want := http.StatusUnauthorized
						switch isOther := connected != hostOf(endpoint); {
						case isOther && matters && (shown != "" || key == ""):
							want = http.StatusMisdirectedRequest
						case key != "", shown == to:
							want = http.StatusOK
						}
						if got, _ := c.get(by, endpoint, key); got != want {
							t.Errorf("certificate %q, connection for %s, HTTP/2 %v, %s, key %v: %d, want %d", shown, connected, version2, endpoint, key != "", got, want)
						}
					}
				}
			}
		}
	}
}

// A session of TLS that is resumed has the certificate that was shown when it began. It is verified as the tenant is now.
func TestResumedSessionsHaveNoOldAuthority(t *testing.T) {
	c := hostCertified(t)
	ada := c.of(t, "acme")
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		c.accept("acme", c.clients["acme"])
		if _, err := c.Reread(t.Context()); err != nil {
			t.Fatal(err)
		}
		sessions := tls.NewLRUClientSessionCache(0)
		read := func(own ...tls.Certificate) (int, bool) {
			by := c.client(false, "acme.example", sessions, own...)
			by.Transport.(*http.Transport).TLSClientConfig.MaxVersion = version
			defer by.CloseIdleConnections()
			return c.get(by, "acme.example/mcp", "")
		}
		if status, resumed := read(ada); status != http.StatusOK || resumed {
			t.Fatalf("first connection: %d, resumed %v", status, resumed)
		}
		if status, resumed := read(); status != http.StatusOK || !resumed {
			t.Fatalf("second connection: %d, resumed %v", status, resumed)
		}
		c.accept("acme", c.clients["zoo"])
		if _, err := c.Reread(t.Context()); err != nil {
			t.Fatal(err)
		}
		if status, resumed := read(); status != http.StatusUnauthorized || !resumed {
			t.Errorf("TLS %x, after the authority was removed: %d, resumed %v", version, status, resumed)
		}
	}
}

// A ticket of a session that began at one tenant has the certificate that was shown there, which is of no use at another tenant,
// whatever name the client says when it resumes the session.
func TestSessionsResumedElsewhereHaveNoRights(t *testing.T) {
	c := hostCertified(t)
	ada := c.of(t, "acme")
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		sessions := &anySession{tls.NewLRUClientSessionCache(0)}
		read := func(host string, own ...tls.Certificate) (int, bool) {
			by := c.client(false, host, sessions, own...)
			by.Transport.(*http.Transport).TLSClientConfig.MaxVersion = version
			defer by.CloseIdleConnections()
			return c.get(by, host+"/mcp", "")
		}
		if status, resumed := read("acme.example", ada); status != http.StatusOK || resumed {
			t.Fatalf("TLS %x, first connection: %d, resumed %v", version, status, resumed)
		}
		for host, want := range map[string]int{"zoo.example": http.StatusUnauthorized, "open.example": http.StatusUnauthorized, "acme.example": http.StatusOK} {
			if status, resumed := read(host); status != want || !resumed {
				t.Errorf("TLS %x, the ticket of acme.example at %s: %d, resumed %v, want %d", version, host, status, resumed, want)
			}
		}
	}
}

// An anySession is the cache of a client that resumes any session at any host.
type anySession struct{ tls.ClientSessionCache }

func (s *anySession) Get(string) (*tls.ClientSessionState, bool) { return s.ClientSessionCache.Get("") }

func (s *anySession) Put(_ string, c *tls.ClientSessionState) { s.ClientSessionCache.Put("", c) }

// A certificate that replaces another is seen on new connections; those that are open stay.
func TestConnectionsOutliveTheirCertificate(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes many connections")
	}
	c := hostCertified(t)
	held := c.client(true, "acme.example", nil)
	serial := func(by *http.Client) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://acme.example/mcp?uri=hello://about", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+c.keys["acme"])
		answer, err := by.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, answer.Body)
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("got %s", answer.Status)
		}
		return answer.TLS.PeerCertificates[0].SerialNumber.String()
	}
	first := serial(held)
	own := c.server.Issue(t, &x509.Certificate{DNSNames: []string{"acme.example"}})
	certtest.Write(t, own, filepath.Join(c.dir, "cert.pem"), filepath.Join(c.dir, "key.pem"))
	for serial(c.client(true, "acme.example", nil)) == first { // the server looks at its files once a second
		if t.Context().Err() != nil {
			t.Fatal("the new certificate is not seen")
		}
	}
	if got := serial(held); got != first {
		t.Error("an open connection was closed for the new certificate")
	}
}
