// Package acme gets the certificates of a server from a certificate authority by ACME (RFC 8555), keeps them in files, and renews
// them.
package acme

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/printable"
)

// LetsEncrypt is the directory of Let's Encrypt.
const LetsEncrypt = "https://acme-v02.api.letsencrypt.org/directory"

const (
	orderTime = 3 * time.Minute  // for getting one certificate
	lookTime  = time.Hour        // between looks at certificates
	firstWait = 5 * time.Minute  // after the first failure; each one more doubles it
	lastWait  = 6 * time.Hour    // the longest
	askTime   = 20 * time.Second // for asking when to renew a certificate
	askWait   = 6 * time.Hour    // between questions
	atOnce    = 4                // orders
	maxAsked  = 20               // questions between looks at what is to be ordered
	maxError  = 500              // bytes of an error that is shown
)

// Config says from whom a Manager gets certificates. Dir is required.
type Config struct {
	Dir       string // a private folder for accounts, keys and certificates, which is made if there is none
	Directory string // URL of the authority's directory; empty for that of Let's Encrypt
	CAFile    string // PEM file of the authorities that sign the certificate of Directory; empty for those of the system
	Email     string // for the account; empty for none
	// HTTP has the authority look at the server over HTTP, too, whose requests ServeHTTP answers. Otherwise it looks by TLS only.
	HTTP bool
	// OrderTime bounds getting one certificate, and FirstWait is how long the Manager waits after the first failure; 0 for 3 and 5
	// minutes.
	OrderTime, FirstWait time.Duration
	Logger               *slog.Logger // nil discards
}

// A Manager has the certificates of a set of names, one for each. It is safe for concurrent use, and holds nothing to be closed
// but what Run holds.
type Manager struct {
	// fixed at creation
	cfg    Config
	dir    string // of the authority, in that of cfg
	client *http.Client

	changed chan struct{} // has an element after names have changed
	running sync.Mutex    // held by Run

	registering sync.Mutex // held while the account is read or made

	mu         sync.Mutex // guards the fields below, and the fields of a held
	names      map[string]*held
	first      string                      // the name that clients get who say none
	challenges map[string]*tls.Certificate // by name, for the authority
	answers    map[string]string           // by path, for the authority
}

// A held is what a Manager has for one name.
type held struct {
	certificate *tls.Certificate // nil for none yet
	renew       time.Time        // when to get the next one
	ask         time.Time        // when to ask the authority for renew
	failures    int              // since the last success
	retry       time.Time        // not to be ordered before
	err         error            // of the last try; nil after a success
}

// Open makes a Manager without names.
func Open(cfg Config) (*Manager, error) {
	cfg.Directory = cmp.Or(cfg.Directory, LetsEncrypt)
	cfg.OrderTime, cfg.FirstWait = cmp.Or(cfg.OrderTime, orderTime), cmp.Or(cfg.FirstWait, firstWait)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	at, err := url.Parse(cfg.Directory)
	if err != nil || at.Scheme != "https" || at.Host == "" {
		return nil, fmt.Errorf("the directory of a certificate authority: %.200q is not a URL that begins with https://", cfg.Directory)
	}
	var roots *x509.CertPool
	if cfg.CAFile != "" {
		text, err := os.ReadFile(cfg.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read the authorities of %s: %w", at.Host, err)
		}
		if roots = x509.NewCertPool(); !roots.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("read the authorities of %s: %s has no certificate in PEM", at.Host, cfg.CAFile)
		}
	}
	sum := sha256.Sum256([]byte(cfg.Directory))
	m := &Manager{
		cfg: cfg, client: newClient(roots), changed: make(chan struct{}, 1),
		dir:   filepath.Join(cfg.Dir, strings.ReplaceAll(at.Host, ":", "_")+"-"+hex.EncodeToString(sum[:4])),
		names: map[string]*held{}, challenges: map[string]*tls.Certificate{}, answers: map[string]string{},
	}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of certificates: %w", err)
	}
	return m, nil
}

// SetNames makes names those for which the Manager has certificates: DNS names in lower case. It reads the certificates of new
// names from their files. Clients that say no name get the certificate of the first one. SetNames must not be called while
// another Manager of the same folder runs.
func (m *Manager) SetNames(names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := make(map[string]*held, len(names))
	m.first = ""
	for i, name := range names {
		if i == 0 {
			m.first = name
		}
		if h := m.names[name]; h != nil {
			next[name] = h
			continue
		}
		h := &held{}
		c, err := m.load(name)
		switch {
		case err == nil:
			h.use(c)
		case !errors.Is(err, os.ErrNotExist):
			m.cfg.Logger.Warn("certificate not read, another one is ordered", "name", name, "err", err)
		}
		next[name] = h
	}
	m.names = next
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// use has h begin to use a certificate. It is renewed when a third of its time is left.
func (h *held) use(c *tls.Certificate) {
	h.certificate, h.failures, h.retry, h.err, h.ask = c, 0, time.Time{}, nil, time.Time{}
	h.renew = c.Leaf.NotAfter.Add(-c.Leaf.NotAfter.Sub(c.Leaf.NotBefore) / 3)
}

// due returns when the certificate is to be got.
func (h *held) due() time.Time {
	if h.certificate == nil || h.renew.Before(h.retry) {
		return h.retry
	}
	return h.renew
}

// Run gets the certificates that are missing, and renews those that expire, until ctx ends.
func (m *Manager) Run(ctx context.Context) {
	m.running.Lock()
	defer m.running.Unlock()
	m.sweep()
	for ctx.Err() == nil {
		m.getAll(ctx)
		timer := time.NewTimer(m.untilNext())
		select {
		case <-ctx.Done():
		case <-m.changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// untilNext returns how long Run has nothing to do.
func (m *Manager) untilNext() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	until := lookTime
	for _, h := range m.names {
		until = min(until, time.Until(h.due()))
		if h.certificate != nil {
			until = min(until, time.Until(h.ask))
		}
	}
	return max(until, time.Second)
}

// getAll gets the certificates that are due, and returns when each has come or failed.
func (m *Manager) getAll(ctx context.Context) {
	m.mu.Lock()
	now := time.Now()
	var due, ask []string
	for name, h := range m.names {
		switch {
		case !h.due().After(now):
			due = append(due, name)
		case h.certificate != nil && !h.ask.After(now):
			ask = append(ask, name)
		}
	}
	m.mu.Unlock()
	slices.Sort(due)
	slices.Sort(ask)
	slots := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for _, name := range due {
		select {
		case <-ctx.Done():
		case slots <- struct{}{}:
			all.Go(func() {
				defer func() { <-slots }()
				m.get(ctx, name)
			})
		}
	}
	all.Wait()
	m.askAll(ctx, ask[:min(len(ask), maxAsked)])
}

// get gets the certificate of a name, and notes how that went.
func (m *Manager) get(ctx context.Context, name string) {
	m.mu.Lock()
	h := m.names[name]
	if h == nil {
		m.mu.Unlock()
		return
	}
	var old *x509.Certificate
	if h.certificate != nil {
		old = h.certificate.Leaf
	}
	m.mu.Unlock()
	within, cancel := context.WithTimeout(ctx, m.cfg.OrderTime)
	defer cancel()
	c, err := m.order(within, name, old)
	if ctx.Err() != nil && c == nil {
		return
	}
	if within.Err() != nil && err != nil {
		err = fmt.Errorf("the authority has not issued it within %v: %w", m.cfg.OrderTime, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if c != nil {
		h.use(c)
		h.retry = time.Now().Add(min(m.cfg.FirstWait, time.Until(c.Leaf.NotAfter)/2)) // however soon the authority wants it renewed
		m.cfg.Logger.Info("certificate issued", "name", name, "expires", c.Leaf.NotAfter, "renewal", h.renew)
		if err != nil {
			m.cfg.Logger.Error("certificate not kept, another one is ordered when the server starts again", "name", name, "err", err)
		}
		return
	}
	wait := min(m.cfg.FirstWait<<min(h.failures, 16), max(lastWait, m.cfg.FirstWait))
	h.failures++
	h.err, h.retry = clip(err), time.Now().Add(wait)
	m.cfg.Logger.Error("certificate not issued", "name", name, "err", h.err, "expires", h.expiry(), "retry_in", wait)
}

// clip returns an error as one line of bounded length: the authority has written a part of it.
func clip(err error) error {
	text := printable.Line(err.Error())
	if len(text) > maxError {
		text = strings.ToValidUTF8(text[:maxError], "") + "…"
	}
	return errors.New(text)
}

func (h *held) expiry() (at time.Time) {
	if h.certificate != nil {
		at = h.certificate.Leaf.NotAfter
	}
	return at
}

// Expiry returns when the first of the certificates expires; zero if there is none.
func (m *Manager) Expiry() (first time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, h := range m.names {
		if at := h.expiry(); !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// Problems says, for each name whose certificate was not issued or renewed at the last try, why, sorted.
func (m *Manager) Problems() (all []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(m.names)) {
		h := m.names[name]
		if h.err == nil {
			continue
		}
		has := "clients cannot connect by this name"
		if at := h.expiry(); time.Now().Before(at) {
			has = "the one in use expires at " + at.UTC().Format(time.RFC3339)
		}
		all = append(all, fmt.Sprintf("certificate of %s not issued, %s, tried again at %s: %v", name, has, h.retry.UTC().Format(time.RFC3339), h.err))
	}
	return all
}

// Asking returns the TLS configuration of a server with the certificates: TLS 1.2 or newer, HTTP/2 or HTTP/1.1. It asks clients
// for a certificate while asks reports true; it does not verify it, and clients may have none. A client fails that says a name
// for which there is no certificate.
func (m *Manager) Asking(asks func() bool) *tls.Config {
	plain := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: m.certificate}
	asking := plain.Clone()
	asking.ClientAuth = tls.RequestClientCert
	looking := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{challengeProtocol}, GetCertificate: m.challenge}
	c := plain.Clone()
	c.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		switch {
		case len(hello.SupportedProtos) == 1 && hello.SupportedProtos[0] == challengeProtocol: // RFC 8737 §3
			return looking, nil
		case asks():
			return asking, nil
		}
		return plain, nil
	}
	return c
}

func (m *Manager) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := cmp.Or(nameOf(hello), m.first)
	h := m.names[name]
	switch {
	case h == nil:
		return nil, fmt.Errorf("the server has no host %.300q", name)
	case h.certificate == nil:
		return nil, fmt.Errorf("the host %s has no certificate yet", name)
	}
	return h.certificate, nil
}

func (m *Manager) challenge(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.challenges[nameOf(hello)]; c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("no certificate was ordered for %.300q", hello.ServerName)
}

func nameOf(hello *tls.ClientHelloInfo) string {
	return strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
}

// ServeHTTP answers the requests by which the authority sees that a host is of this server, and 404 to all others.
func (m *Manager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	text, known := m.answers[r.URL.Path]
	m.mu.Unlock()
	if !known || r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write([]byte(text))
}

// Serve answers the requests of ServeHTTP on a listener until ctx ends, and closes it.
func (m *Manager) Serve(ctx context.Context, l net.Listener) error {
	const most = 10 * time.Second
	s := &http.Server{
		Handler: m, ReadTimeout: most, WriteTimeout: most, IdleTimeout: most, MaxHeaderBytes: 8 << 10,
		ErrorLog: slog.NewLogLogger(m.cfg.Logger.Handler(), slog.LevelDebug),
	}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	if err := s.Serve(l); ctx.Err() == nil {
		return fmt.Errorf("serve the authority over HTTP: %w", err)
	}
	return nil
}
