package certificate_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
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
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	ended := make(chan error, 1)
	go func() {
		server := tls.Server(b, cfg)
		err := server.Handshake()
		b.Close()
		ended <- err
	}()
	c := tls.Client(a, &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{client}})
	err := c.Handshake()
	go io.Copy(io.Discard, a) // an alert, or session tickets
	if serverErr := <-ended; serverErr != nil {
		err = serverErr
	}
	if err != nil {
		return "", err
	}
	return c.ConnectionState().PeerCertificates[0].Subject.CommonName, nil
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
