// Package certificate keeps the TLS certificate of a server, and the authorities of its clients, as their files have them.
package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

// checkInterval is how often the files are looked at, when clients connect.
const checkInterval = time.Second

// A Pair names the PEM files of a certificate, with its intermediate ones, and of its key.
type Pair struct{ Cert, Key string }

// Config names files in PEM.
type Config struct {
	Cert, Key string // of the server, with intermediate certificates; required
	// More are of the server as well. A client sees the first certificate that has the name by which it connects, and otherwise
	// that of Cert.
	More []Pair
	// ClientCA has the authorities that sign the certificates of clients. With it, TLS demands one of each client. Empty for
	// none.
	ClientCA string
	Logger   *slog.Logger // nil discards
}

// Files have a TLS configuration, which they make again when a file has changed. While a file is unreadable or wrong, or the
// key is not that of the certificate, the last configuration stays, and the log says why. Files are safe for concurrent use,
// and hold nothing to be closed.
type Files struct {
	cfg Config // fixed at creation

	mu      sync.Mutex // guards the fields below
	tls     *tls.Config
	seen    []fs.FileInfo // of the files, when tls was made or could not be; nil for one that could not be read
	checked time.Time
}

// Open reads the files.
func Open(cfg Config) (*Files, error) {
	f := &Files{cfg: cfg, checked: time.Now()}
	for _, pair := range f.pairs() {
		if pair.Cert == "" || pair.Key == "" {
			return nil, errors.New("a certificate and its key are required")
		}
	}
	if cfg.Logger == nil {
		f.cfg.Logger = slog.New(slog.DiscardHandler)
	}
	f.seen = f.stat()
	var err error
	if f.tls, err = f.load(); err != nil {
		return nil, err
	}
	return f, nil
}

// TLS gives the configuration of a server that takes the files as they are when a client connects: TLS 1.2 or newer, HTTP/2
// or HTTP/1.1.
func (f *Files) TLS() *tls.Config {
	c := f.current().Clone()
	c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return f.current(), nil }
	return c
}

// Expiry gives when the first of the server's certificates expires.
func (f *Files) Expiry() (first time.Time) {
	for _, c := range f.current().Certificates {
		if first.IsZero() || c.Leaf.NotAfter.Before(first) {
			first = c.Leaf.NotAfter
		}
	}
	return first
}

// Asking returns a configuration like that of TLS, which asks clients for a certificate while asks reports true. It does not verify
// it, and clients may have none.
func (f *Files) Asking(asks func() bool) *tls.Config {
	c := f.TLS()
	c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		now := f.current()
		if asks() && now.ClientAuth == tls.NoClientCert {
			now = now.Clone()
			now.ClientAuth = tls.RequestClientCert
		}
		return now, nil
	}
	return c
}

// current gives the newest configuration.
func (f *Files) current() *tls.Config {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.checked) >= checkInterval {
		f.checked = now
		f.refreshLocked()
	}
	return f.tls
}

func (f *Files) refreshLocked() {
	info := f.stat()
	if same(info, f.seen) {
		return
	}
	f.seen = info
	next, err := f.load()
	if err != nil {
		f.cfg.Logger.Error("certificate not read again, the last one stays in use", "err", err)
		return
	}
	f.tls = next
	f.cfg.Logger.Info("certificates read again", "file", f.cfg.Cert, "more", len(f.cfg.More))
}

// load makes a configuration of the files.
func (f *Files) load() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	for _, pair := range f.pairs() {
		one, err := tls.LoadX509KeyPair(pair.Cert, pair.Key)
		if err != nil {
			return nil, fmt.Errorf("read certificate %s and key %s: %w", pair.Cert, pair.Key, err)
		}
		c.Certificates = append(c.Certificates, one)
	}
	if f.cfg.ClientCA == "" {
		return c, nil
	}
	text, err := os.ReadFile(f.cfg.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("read authorities of clients: %w", err)
	}
	c.ClientCAs, c.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
	if !c.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("read authorities of clients: %s has no certificate in PEM", f.cfg.ClientCA)
	}
	return c, nil
}

// pairs returns all pairs of files, that of Cert first.
func (f *Files) pairs() []Pair {
	return append([]Pair{{f.cfg.Cert, f.cfg.Key}}, f.cfg.More...)
}

func (f *Files) stat() []fs.FileInfo {
	names := []string{f.cfg.ClientCA}
	for _, pair := range f.pairs() {
		names = append(names, pair.Cert, pair.Key)
	}
	var all []fs.FileInfo
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			info = nil
		}
		all = append(all, info)
	}
	return all
}

// same reports whether the files are as they were.
func same(a, b []fs.FileInfo) bool {
	for i := range a {
		x, y := a[i], b[i]
		switch {
		case x == nil && y == nil:
		case x == nil || y == nil:
			return false
		case !os.SameFile(x, y) || x.Size() != y.Size() || !x.ModTime().Equal(y.ModTime()):
			return false
		}
	}
	return true
}
