package acme

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/mholt/acmez/v3"
	"github.com/mholt/acmez/v3/acme"
)

const (
	challengeProtocol = "acme-tls/1" // RFC 8737
	requestTime       = 30 * time.Second
	maxBody           = 1 << 20 // bytes of an answer of the authority
)

// newClient returns a client of an authority, which takes answers of maxBody at most.
func newClient(roots *x509.CertPool) *http.Client {
	return &http.Client{Timeout: requestTime, Transport: bounded{&http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}, ForceAttemptHTTP2: true,
		DialContext:         (&net.Dialer{Timeout: requestTime}).DialContext,
		TLSHandshakeTimeout: requestTime, MaxResponseHeaderBytes: 64 << 10, IdleConnTimeout: requestTime,
	}}}
}

// bounded takes answers of maxBody at most.
type bounded struct{ of *http.Transport }

// RoundTrip implements [http.RoundTripper].
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.of.RoundTrip(r)
	if err == nil {
		answer.Body = &body{answer.Body, maxBody}
	}
	return answer, err
}

// A body fails once more than left bytes were read.
type body struct {
	io.ReadCloser
	left int
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, fmt.Errorf("the answer has more than %d bytes", maxBody)
	}
	return n, err
}

// acmeClient returns a client of the protocol. Each order has its own: it keeps state of the authority.
func (m *Manager) acmeClient() *acmez.Client {
	return &acmez.Client{Client: &acme.Client{
		Directory: m.cfg.Directory, HTTPClient: m.client, UserAgent: "wasmres", PollInterval: time.Second, PollTimeout: m.cfg.OrderTime,
	}, ChallengeSolvers: m.solvers()}
}

// order gets a certificate for a name, in place of old if that is not nil, and keeps it in its file. It returns the certificate beside
// the error of a file.
func (m *Manager) order(ctx context.Context, name string, old *x509.Certificate) (*tls.Certificate, error) {
	client := m.acmeClient()
	account, err := m.account(ctx, client)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	request, err := acmez.NewCSR(key, []string{name})
	if err != nil {
		return nil, fmt.Errorf("make a request for a certificate: %w", err)
	}
	order, err := acmez.OrderParametersFromCSR(account, request)
	if err != nil {
		return nil, fmt.Errorf("make an order: %w", err)
	}
	order.Replaces = old
	chains, err := client.ObtainCertificate(ctx, order)
	if err != nil && old != nil && ctx.Err() == nil && isRefused(err) { // as where the authority does not know the old one
		order.Replaces = nil
		chains, err = client.ObtainCertificate(ctx, order)
	}
	switch {
	case isProblem(err, acme.ProblemTypeAccountDoesNotExist):
		return nil, errors.Join(fmt.Errorf("the authority does not know the account, another one is made at the next try: %w", err), m.forgetAccount())
	case err != nil:
		return nil, err
	case len(chains) == 0:
		return nil, errors.New("the authority has sent no certificate")
	}
	text, c, err := pair(name, chains[0].ChainPEM, key)
	if err != nil {
		return nil, fmt.Errorf("the authority has sent a certificate that cannot be used: %w", err)
	}
	return c, m.save(name, text)
}

// isRefused reports whether err is the authority's refusal of a request, not of a challenge.
func isRefused(err error) bool {
	return isProblem(err, acme.ProblemTypeMalformed) || isProblem(err, acme.ProblemTypeServerInternal)
}

func isProblem(err error, kind string) bool {
	var p acme.Problem
	return errors.As(err, &p) && p.Type == kind
}

// askAll asks the authority when the certificates of names are to be renewed (RFC 9773), if it says that. Whatever fails leaves the
// times that a Manager has chosen.
func (m *Manager) askAll(ctx context.Context, names []string) {
	for _, name := range names {
		m.mu.Lock()
		h := m.names[name]
		var of *x509.Certificate
		if h != nil && h.certificate != nil {
			of = h.certificate.Leaf
		}
		m.mu.Unlock()
		if of == nil {
			continue
		}
		within, cancel := context.WithTimeout(ctx, askTime)
		info, err := m.acmeClient().GetRenewalInfo(within, of)
		cancel()
		if err != nil { // the authority is asked no more for now
			m.cfg.Logger.Debug("the authority does not say when to renew a certificate", "name", name, "err", clip(err))
			m.askLater()
			return
		}
		m.mu.Lock()
		now := time.Now()
		h.ask = now.Add(askWait)
		if at := info.RetryAfter; at != nil && at.Before(h.ask) && at.After(now) {
			h.ask = *at
		}
		if h.certificate.Leaf == of && info.HasWindow() && info.SelectedTime.Before(of.NotAfter) {
			h.renew = info.SelectedTime
		}
		m.mu.Unlock()
	}
}

// askLater has the authority not be asked for a while.
func (m *Manager) askLater() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, h := range m.names {
		h.ask = time.Now().Add(askWait)
	}
}

// solvers are the ways in which the authority sees that a name is of this server.
func (m *Manager) solvers() map[string]acmez.Solver {
	all := map[string]acmez.Solver{acme.ChallengeTypeTLSALPN01: byTLS{m}}
	if m.cfg.HTTP {
		all[acme.ChallengeTypeHTTP01] = byHTTP{m}
	}
	return all
}

// byTLS shows the authority a certificate by TLS.
type byTLS struct{ m *Manager }

// Present implements [acmez.Solver].
func (s byTLS) Present(_ context.Context, c acme.Challenge) error {
	shown, err := acmez.TLSALPN01ChallengeCert(c)
	if err != nil {
		return err
	}
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	s.m.challenges[strings.ToLower(c.Identifier.Value)] = shown
	return nil
}

// CleanUp implements [acmez.Solver].
func (s byTLS) CleanUp(_ context.Context, c acme.Challenge) error {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	delete(s.m.challenges, strings.ToLower(c.Identifier.Value))
	return nil
}

// byHTTP answers the authority over HTTP.
type byHTTP struct{ m *Manager }

// Present implements [acmez.Solver].
func (s byHTTP) Present(_ context.Context, c acme.Challenge) error {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	s.m.answers[c.HTTP01ResourcePath()] = c.KeyAuthorization
	return nil
}

// CleanUp implements [acmez.Solver].
func (s byHTTP) CleanUp(_ context.Context, c acme.Challenge) error {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	delete(s.m.answers, c.HTTP01ResourcePath())
	return nil
}
