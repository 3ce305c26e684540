package acme_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/acme"
	"github.com/wasmres/wasmres/internal/certificate/certtest"
)

// open opens a Manager of the authority that keeps its files in a folder.
func open(t *testing.T, ca *authority, dir string) *acme.Manager {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := acme.Open(acme.Config{Dir: dir, Directory: ca.server.URL + "/directory", CAFile: file, Email: "ops@example.com", OrderTime: ca.orderTime, FirstWait: ca.firstWait})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// run runs a Manager until the test ends or calls stop.
func run(t *testing.T, m *acme.Manager) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	return stop
}

// eventually waits until ask reports true.
func eventually(t *testing.T, what string, ask func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ask() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("the test ended before ", what)
		}
	}
}

// shown returns the certificate that a client sees who connects by a name.
func shown(m *acme.Manager, name string, protocols ...string) (*x509.Certificate, error) {
	client, server := net.Pipe()
	defer client.Close()
	go func() {
		defer server.Close()
		_ = tls.Server(server, m.Asking(func() bool { return false })).Handshake()
	}()
	c := tls.Client(client, &tls.Config{InsecureSkipVerify: true, ServerName: name, NextProtos: protocols})
	if err := c.Handshake(); err != nil {
		return nil, err
	}
	return c.ConnectionState().PeerCertificates[0], nil
}

func serialOf(m *acme.Manager, name string) string {
	c, err := shown(m, name)
	if err != nil {
		return ""
	}
	return c.SerialNumber.String()
}

func TestCertificatesAreIssuedKeptAndOfTheirNamesAlone(t *testing.T) {
	ca, dir := newAuthority(t), t.TempDir()
	m := open(t, ca, dir)
	m.SetNames([]string{"mcp.example", "acme.example"})
	if _, err := shown(m, "acme.example"); err == nil {
		t.Error("there is a certificate before one was issued")
	}
	stop := run(t, m)
	eventually(t, "two certificates", func() bool { return serialOf(m, "acme.example") != "" && serialOf(m, "mcp.example") != "" })
	for _, name := range []string{"zoo.example", "acme.example.com", "*.example", ""} {
		c, err := shown(m, name)
		if name == "" && err == nil && c.VerifyHostname("mcp.example") == nil {
			continue // no name is the first one
		}
		if err == nil {
			t.Errorf("by the name %q a client sees a certificate of %v", name, c.DNSNames)
		}
	}
	if _, err := shown(m, "acme.example", "acme-tls/1"); err == nil {
		t.Error("a client that looks as the authority does sees a certificate without an order")
	}
	if got := m.Problems(); got != nil {
		t.Error(got)
	}
	if at := m.Expiry(); !at.After(time.Now()) {
		t.Errorf("expiry %v", at)
	}
	first, orders := serialOf(m, "acme.example"), ca.orders.Load()
	m.SetNames([]string{"mcp.example"})
	if serialOf(m, "acme.example") != "" {
		t.Error("a name that was removed has a certificate")
	}
	stop()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && path != dir && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	again := open(t, ca, dir)
	again.SetNames([]string{"mcp.example", "acme.example", "zoo.example"})
	if got := serialOf(again, "acme.example"); got != first {
		t.Errorf("after a restart the certificate is %s, want %s", got, first)
	}
	run(t, again)
	eventually(t, "the third certificate", func() bool { return serialOf(again, "zoo.example") != "" })
	if got := ca.orders.Load(); got != orders+1 || ca.accounts.Load() != 1 {
		t.Errorf("%d orders and %d accounts, want one more than %d orders, and one account", got, ca.accounts.Load(), orders)
	}
}

func TestACertificateIsRenewedWhenAThirdOfItsTimeIsLeft(t *testing.T) {
	ca := newAuthority(t)
	ca.lifetime.Store([2]time.Duration{-time.Hour, 20 * time.Minute})
	ca.firstWait = time.Millisecond
	m := open(t, ca, t.TempDir())
	m.SetNames([]string{"acme.example"})
	run(t, m)
	eventually(t, "a certificate", func() bool { return serialOf(m, "acme.example") != "" })
	first := serialOf(m, "acme.example")
	ca.lifetime.Store([2]time.Duration{0, time.Hour})
	eventually(t, "the next certificate", func() bool { s := serialOf(m, "acme.example"); return s != "" && s != first })
}

// A certificate that is to be renewed as soon as it is issued, as where clocks differ, is not ordered again at once.
func TestOrdersDoNotFollowOneAnother(t *testing.T) {
	ca := newAuthority(t)
	ca.lifetime.Store([2]time.Duration{-time.Hour, 20 * time.Minute})
	m := open(t, ca, t.TempDir())
	m.SetNames([]string{"acme.example"})
	run(t, m)
	eventually(t, "a certificate", func() bool { return serialOf(m, "acme.example") != "" })
	for i, name := range []string{"one.example", "two.example"} { // the Manager looks at all names again
		m.SetNames([]string{"acme.example", name})
		eventually(t, "another certificate", func() bool { return serialOf(m, name) != "" })
		if got := ca.orders.Load(); got != int64(i+2) {
			t.Errorf("%d orders for %d names", got, i+2)
		}
	}
}

// Whatever an authority does, the server has the certificate that it had, and says why it has no newer one.
func TestAnAuthorityThatFails(t *testing.T) {
	for _, c := range []struct{ does, says string }{
		{"refuse", "rejectedIdentifier"}, {"hang", "within"}, {"garbage", "JSON"}, {"huge", "more than"}, {"other name", "cannot be used"},
		{"other key", "cannot be used"}, {"expired", "expired"}, {"no certificate", "cannot be used"}, {"many certificates", "cannot be used"}, {"empty", "serverInternal"},
		{"reset", "EOF"}, {"steer", `\x1b`}, {"unknown account", "another one is made"},
	} {
		t.Run(c.does, func(t *testing.T) {
			if testing.Short() && c.does != "refuse" && c.does != "hang" && c.does != "huge" {
				t.Skip("a long test")
			}
			ca, dir := newAuthority(t), t.TempDir()
			ca.lifetime.Store([2]time.Duration{-time.Hour, 20 * time.Minute}) // so that it is to be renewed at once
			m := open(t, ca, dir)
			m.SetNames([]string{"acme.example"})
			stop := run(t, m)
			eventually(t, "a certificate or a problem", func() bool { return serialOf(m, "acme.example") != "" || m.Problems() != nil })
			stop()
			first := serialOf(m, "acme.example")
			if first == "" {
				t.Fatal(m.Problems())
			}
			ca.does.Store(c.does)
			if c.does == "hang" {
				ca.orderTime = 100 * time.Millisecond
			}
			m = open(t, ca, dir)
			m.SetNames([]string{"acme.example", "new.example"})
			stop = run(t, m)
			eventually(t, "two problems", func() bool { return len(m.Problems()) == 2 })
			stop()
			for i, name := range []string{"acme.example", "new.example"} {
				if got := m.Problems()[i]; !strings.Contains(got, "certificate of "+name+" not issued") || !strings.Contains(got, c.says) || len(got) > 1000 {
					t.Errorf("%q", got)
				}
			}
			if got := serialOf(m, "acme.example"); got != first {
				t.Errorf("the server has the certificate %s, want %s", got, first)
			}
			if serialOf(m, "new.example") != "" {
				t.Error("a certificate of the authority is in use")
			}
		})
	}
}

func TestWrongFilesAreReplaced(t *testing.T) {
	ca, dir := newAuthority(t), t.TempDir()
	m := open(t, ca, dir)
	m.SetNames([]string{"acme.example", "zoo.example"})
	stop := run(t, m)
	eventually(t, "two certificates", func() bool { return serialOf(m, "acme.example") != "" && serialOf(m, "zoo.example") != "" })
	stop()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.example.pem"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	zoo, err := os.ReadFile(files[1])
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"cut": zoo[:len(zoo)/2], "of another name": zoo, "empty": nil, "large": make([]byte, 2<<20)} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(files[0], text, 0o600); err != nil {
				t.Fatal(err)
			}
			m := open(t, ca, dir)
			m.SetNames([]string{"acme.example"})
			if serialOf(m, "acme.example") != "" {
				t.Error("a wrong file is in use")
			}
			run(t, m)
			eventually(t, "another certificate", func() bool { return serialOf(m, "acme.example") != "" })
		})
	}
}

func TestWrongConfigurations(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.pem")
	if err := os.WriteFile(none, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []acme.Config{
		{Directory: "http://ca.example/directory"}, {Directory: "https://"}, {Directory: "https://ca.example/", CAFile: none},
		{Directory: "https://ca.example/", CAFile: none + "x"},
	} {
		cfg.Dir = t.TempDir()
		if m, err := acme.Open(cfg); err == nil {
			t.Errorf("%+v: opened %v", cfg, m)
		}
	}
}

// Over HTTP the server answers an authority alone, and clients get nothing.
func TestClientsGetNothingOverHTTP(t *testing.T) {
	m := open(t, newAuthority(t), t.TempDir())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Serve(ctx, l) }()
	for _, path := range []string{"/", "/t/acme/mcp", "/.well-known/acme-challenge/", "/.well-known/acme-challenge/x"} {
		answer, err := http.Get("http://" + l.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, answer.Status)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// FuzzChain has an authority send any text as a certificate.
func FuzzChain(f *testing.F) {
	a := certtest.NewAuthority(f)
	own := a.Issue(f, &x509.Certificate{DNSNames: []string{"acme.example"}})
	f.Add(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate[0]}))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"))
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, chain []byte) {
		text, err := acme.Pair("acme.example", chain, own.PrivateKey)
		if err != nil {
			return
		}
		c, err := tls.X509KeyPair(text, text)
		if err != nil || c.Leaf.VerifyHostname("acme.example") != nil || time.Now().After(c.Leaf.NotAfter) || len(c.Certificate) > 10 {
			t.Errorf("accepted %q: %v", chain, err)
		}
	})
}
