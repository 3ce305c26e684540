package certs

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/keys"
	"github.com/wasmres/wasmres/runtime/auth"
)

const (
	maxChain = 8   // certificates that a client shows
	maxName  = 255 // bytes of the name of a principal
)

// A sum is the SHA-256 of the certificates that a client shows.
type sum [32]byte

// An authenticator is that of one tenant.
type authenticator struct {
	set    *Set
	tenant string
	others auth.Authenticator
}

// Challenge implements [auth.Authenticator].
func (a *authenticator) Challenge(host string) string { return a.others.Challenge(host) }

// Authenticate implements [auth.Authenticator].
func (a *authenticator) Authenticate(c auth.Credential) (*auth.Identity, error) {
	if identity, err, is := a.byCertificate(c); is {
		return identity, err
	}
	return a.others.Authenticate(c)
}

// waiting is an authenticator whose others may wait, and have scopes.
type waiting struct {
	*authenticator
	waiter auth.Waiter
	scoped auth.Scoped
}

// Await implements [auth.Waiter].
func (a *waiting) Await(ctx context.Context, c auth.Credential) (*auth.Identity, error) {
	if identity, err, is := a.byCertificate(c); is {
		return identity, err
	}
	return a.waiter.Await(ctx, c)
}

// Scopes implements [auth.Scoped].
func (a *waiting) Scopes() []string { return a.scoped.Scopes() }

// byCertificate authenticates a client by its certificate. is is false for a client without one, or with another credential, which
// counts then.
func (a *authenticator) byCertificate(c auth.Credential) (identity *auth.Identity, err error, is bool) {
	if c.Authorization != "" || c.TLS == nil || len(c.TLS.PeerCertificates) == 0 {
		return nil, nil, false
	}
	shown := c.TLS.PeerCertificates
	id := sumOf(shown)
	for {
		now := a.set.of(a.tenant)
		if now == nil {
			return nil, nil, false
		}
		if i, ok := now.known.Get(id); ok && i.Valid() && a.set.cfg.Now().Before(shown[0].NotAfter) {
			a.set.cfg.Decided(nil)
			return i, nil, true
		}
		identity, err := a.verify(now, id, shown, c)
		if err == nil && now.ctx.Err() != nil {
			continue // the tenant has just changed
		}
		a.set.cfg.Decided(err)
		return identity, err, true
	}
}

func (a *authenticator) verify(now *clients, id sum, shown []*x509.Certificate, c auth.Credential) (*auth.Identity, error) {
	c.Authorization = "certificate " + hex.EncodeToString(id[:]) // for the count of bad ones
	if until, ok := now.refused.Get(id); ok && a.set.cfg.Now().Before(until) {
		return nil, a.set.cfg.Keys.Refuse(a.tenant, c)
	}
	if wait, isSuspect := a.set.cfg.Keys.IsSuspect(a.tenant, c); isSuspect {
		return nil, &auth.TooManyError{RetryAfter: wait}
	}
	identity, err := now.identify(shown, a.set.cfg.Now())
	if err != nil {
		now.refused.Put(id, a.set.cfg.Now().Add(refusedTime))
		a.set.log.Warn("certificate", "certificate refused", "tenant", a.tenant, "client", c.Address, "reason", err)
		return nil, a.set.cfg.Keys.Refuse(a.tenant, c)
	}
	now.known.Put(id, identity)
	return identity, nil
}

func sumOf(shown []*x509.Certificate) (id sum) {
	h := sha256.New()
	for _, one := range shown[:min(len(shown), maxChain+1)] {
		digest := sha256.Sum256(one.Raw)
		h.Write(digest[:])
	}
	h.Sum(id[:0])
	return id
}

// identify verifies the certificates that a client shows, its own first, and makes the identity of its name.
func (c *clients) identify(shown []*x509.Certificate, now time.Time) (*auth.Identity, error) {
	if len(shown) > maxChain {
		return nil, fmt.Errorf("the client shows %d certificates, at most %d are allowed", len(shown), maxChain)
	}
	others := x509.NewCertPool()
	for _, one := range shown[1:] {
		others.AddCert(one)
	}
	chains, err := shown[0].Verify(x509.VerifyOptions{
		Roots: c.roots, Intermediates: others, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return nil, err
	}
	name, roles := rolesOf(c.of.Certificates, shown[0])
	if name == "" || len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, printable.Hidden) {
		return nil, errors.New("it has no name, or one that is too long or has characters that are not shown")
	}
	i := auth.NewIdentity(c.ctx, abi.Principal{Subject: "certificate:" + name}, keys.Grants(c.of, roles), endOf(chains))
	if slices.Contains(roles, tenant.RoleCanary) {
		i = i.ChoosingVersions()
	}
	return i, nil
}

// endOf returns when the chain ends that lasts longest.
func endOf(chains [][]*x509.Certificate) (last time.Time) {
	for _, chain := range chains {
		first := chain[0].NotAfter
		for _, one := range chain {
			if one.NotAfter.Before(first) {
				first = one.NotAfter
			}
		}
		if first.After(last) {
			last = first
		}
	}
	return last
}

// rolesOf returns the roles of a certificate, sorted, with the name that has them: one of its URIs, or else one of its DNS names, or
// else its subject. Of a certificate without a role, it returns the first of its names.
func rolesOf(by *tenant.Certificates, cert *x509.Certificate) (name string, roles []string) {
	var uris []string
	for _, u := range cert.URIs {
		uris = append(uris, u.String())
	}
	for _, names := range [][]string{uris, cert.DNSNames, {cert.Subject.String()}} {
		for _, one := range names {
			if found := by.RolesOf(one); len(found) > 0 {
				return one, found
			}
			if name == "" {
				name = one
			}
		}
	}
	return name, nil
}
