package certificate_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/internal/certificate"
	"github.com/wasmres/wasmres/internal/certificate/certtest"
)

// name gives the name of the certificate that a client of cfg sees.
func name(t *testing.T, cfg *tls.Config, client tls.Certificate) (string, error) {
	t.Helper()
	state, err := seen(t, cfg, &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{client}})
	if err != nil {
		return "", err
	}
	return state.PeerCertificates[0].Subject.CommonName, nil
}

// seen connects a client to a server, and gives what the client sees. It reads a byte of the server, before which tickets come.
func seen(t *testing.T, cfg, by *tls.Config) (tls.ConnectionState, error) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", cfg) // a pipe has no buffer: both ends would wait to write
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ended := make(chan error, 1)
	go func() {
		server, err := l.Accept()
		if err == nil {
			_, err = server.Write([]byte{0})
			server.Close()
		}
		ended <- err
	}()
	c, err := tls.Dial("tcp", l.Addr().String(), by)
	if err != nil {
		return tls.ConnectionState{}, errors.Join(err, <-ended)
	}
	defer c.Close()
	if n, failed := c.Read(make([]byte, 1)); n == 0 { // it may say with the byte that it is the last one
		err = failed
	}
	return c.ConnectionState(), errors.Join(err, <-ended)
}

func TestTheNewestCertificateIsUsed(t *testing.T) {
	ca := certtest.NewAuthority(t)
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certtest.Write(t, ca.Issue(t, &x509.Certificate{Subject: certtest.Name("first")}), certFile, keyFile)
	expiry := time.Date(2090, 1, 2, 3, 4, 5, 0, time.UTC)
	second := ca.Issue(t, &x509.Certificate{Subject: certtest.Name("second"), NotAfter: expiry})
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		files, err := certificate.Open(certificate.Config{Cert: certFile, Key: keyFile, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		cfg := files.TLS()
		expect := func(want string) {
			t.Helper()
			time.Sleep(2 * time.Second)
			if got, err := name(t, cfg, tls.Certificate{}); got != want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		}
		expect("first")
		certtest.Write(t, second, certFile, filepath.Join(dir, "key.new"))
		expect("first") // its key is missing
		if !strings.Contains(log.String(), "private key does not match") {
			t.Errorf("the log has %s", log.String())
		}
		if err := os.Rename(filepath.Join(dir, "key.new"), keyFile); err != nil {
			t.Fatal(err)
		}
		expect("second")
		if got := files.Expiry(); !got.Equal(expiry) {
			t.Errorf("it expires %v, want %v", got, expiry)
		}
		if err := os.WriteFile(certFile, []byte("no certificate"), 0o600); err != nil {
			t.Fatal(err)
		}
		expect("second")
		if err := os.Remove(certFile); err != nil {
			t.Fatal(err)
		}
		expect("second")
		expect("second")
		if n := strings.Count(log.String(), "level=ERROR"); n != 3 {
			t.Errorf("%d errors in the log, want 3:\n%s", n, log.String())
		}
	})
}

func TestClientsNeedACertificateOfTheAuthority(t *testing.T) {
	ca, other := certtest.NewAuthority(t), certtest.NewAuthority(t)
	dir := t.TempDir()
	certFile, keyFile, caFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "ca.pem")
	certtest.Write(t, ca.Issue(t, &x509.Certificate{Subject: certtest.Name("server")}), certFile, keyFile)
	certtest.WriteCert(t, ca.Cert, caFile)
	files, err := certificate.Open(certificate.Config{Cert: certFile, Key: keyFile, ClientCA: caFile})
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		client tls.Certificate
		ok     bool
	}{
		"good": {ca.Issue(t, &x509.Certificate{}), true}, "none": {tls.Certificate{}, false},
		"of another authority": {other.Issue(t, &x509.Certificate{}), false},
		"expired":              {ca.Issue(t, &x509.Certificate{NotAfter: time.Now().Add(-time.Hour)}), false},
	} {
		if _, err := name(t, files.TLS(), c.client); (err == nil) != c.ok {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestWrongFiles(t *testing.T) {
	ca := certtest.NewAuthority(t)
	dir := t.TempDir()
	certFile, keyFile, empty := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "empty")
	certtest.Write(t, ca.Issue(t, &x509.Certificate{}), certFile, keyFile)
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []certificate.Config{
		{}, {Cert: certFile}, {Cert: certFile, Key: certFile}, {Cert: keyFile, Key: keyFile}, {Cert: "none", Key: keyFile},
		{Cert: certFile, Key: keyFile, ClientCA: "none"}, {Cert: certFile, Key: keyFile, ClientCA: empty},
	} {
		if _, err := certificate.Open(cfg); err == nil {
			t.Errorf("%+v was opened", cfg)
		}
	}
}

// Of several certificates, clients see the first that has the name by which they connect, and otherwise the first of all.
func TestClientsSeeTheCertificateOfTheirHost(t *testing.T) {
	ca, dir := certtest.NewAuthority(t), t.TempDir()
	files := func(common string, names ...string) certificate.Pair {
		p := certificate.Pair{Cert: filepath.Join(dir, common+".pem"), Key: filepath.Join(dir, common+"-key.pem")}
		certtest.Write(t, ca.Issue(t, &x509.Certificate{Subject: certtest.Name(common), DNSNames: names}), p.Cert, p.Key)
		return p
	}
	first := files("first", "mcp.example")
	opened, err := certificate.Open(certificate.Config{Cert: first.Cert, Key: first.Key, More: []certificate.Pair{
		files("acme", "acme.example", "*.acme.example"), files("zoo", "zoo.example", "mcp.example"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{
		"mcp.example": "first", "acme.example": "acme", "ACME.example": "acme", "a.acme.example": "acme", "a.b.acme.example": "first",
		"zoo.example": "zoo", "unknown.example": "first", "": "first",
	} {
		got, err := seen(t, opened.TLS(), &tls.Config{InsecureSkipVerify: true, ServerName: host})
		if err != nil || got.PeerCertificates[0].Subject.CommonName != want {
			t.Errorf("%q: got %v, %v, want %s", host, got.PeerCertificates[0].Subject, err, want)
		}
	}
}

// A session of TLS that began with a certificate of an authority ends when the authority is removed.
func TestSessionsAreNotResumedWithoutTheirAuthority(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		synctest.Test(t, func(t *testing.T) {
			ca, other := certtest.NewAuthority(t), certtest.NewAuthority(t) // of the time in here
			dir := t.TempDir()
			certFile, keyFile, caFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "ca.pem")
			certtest.Write(t, ca.Issue(t, &x509.Certificate{}), certFile, keyFile)
			certtest.WriteCert(t, ca.Cert, caFile)
			files, err := certificate.Open(certificate.Config{Cert: certFile, Key: keyFile, ClientCA: caFile})
			if err != nil {
				t.Fatal(err)
			}
			server := files.TLS()
			client := &tls.Config{
				InsecureSkipVerify: true, ServerName: "mcp.example", MaxVersion: version,
				ClientSessionCache: tls.NewLRUClientSessionCache(0), Certificates: []tls.Certificate{ca.Issue(t, &x509.Certificate{})},
			}
			for i, resumed := range []bool{false, true} {
				if got, err := seen(t, server, client); err != nil || got.DidResume != resumed {
					t.Fatalf("connection %d: resumed %v, %v", i, got.DidResume, err)
				}
			}
			certtest.WriteCert(t, other.Cert, caFile)
			time.Sleep(2 * time.Second)
			if got, err := seen(t, server, client); err == nil {
				t.Errorf("TLS %x: a client of the authority before connects, resumed %v", version, got.DidResume)
			}
		})
	}
}

// The keys of session tickets change every day: crypto/tls does so for one configuration, whatever it has for each client.
func TestKeysOfSessionTicketsChange(t *testing.T) {
	ca, dir := certtest.NewAuthority(t), t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certtest.Write(t, ca.Issue(t, &x509.Certificate{}), certFile, keyFile)
	synctest.Test(t, func(t *testing.T) {
		files, err := certificate.Open(certificate.Config{Cert: certFile, Key: keyFile})
		if err != nil {
			t.Fatal(err)
		}
		server := files.Asking(func() bool { return true })
		var first *tls.Config // has the keys of the first day
		for _, c := range []struct {
			after time.Duration
			known bool // to the first day
		}{{0, true}, {23 * time.Hour, true}, {2 * time.Hour, false}} {
			time.Sleep(c.after)
			sessions := &lastSession{}
			if _, err := seen(t, server, &tls.Config{InsecureSkipVerify: true, ServerName: "mcp.example", ClientSessionCache: sessions}); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = server.Clone()
			}
			ticket, _, err := sessions.ResumptionState()
			if err != nil {
				t.Fatal(err)
			}
			state, err := first.DecryptTicket(ticket, tls.ConnectionState{})
			if err != nil || (state != nil) != c.known {
				t.Errorf("%v later: the keys of the first day open the ticket: %v, %v", c.after, state != nil, err)
			}
		}
	})
}

// A lastSession is the cache of a client that has the last session alone, and resumes none.
type lastSession struct{ *tls.ClientSessionState }

func (*lastSession) Get(string) (*tls.ClientSessionState, bool) { return nil, false }

func (s *lastSession) Put(_ string, c *tls.ClientSessionState) { s.ClientSessionState = c }
