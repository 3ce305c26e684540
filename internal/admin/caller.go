package admin

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/auth/tokens"
)

// A Role is what a caller of the API may do.
type Role string

// The roles.
const (
	Operator    Role = "operator"     // everything
	TenantAdmin Role = "tenant-admin" // manages one tenant, but not what it may use: approves within its plan
	Deployer    Role = "deployer"     // pushes versions and gives them clients; approves nothing
	Auditor     Role = "auditor"      // reads
)

// Roles are all of them.
var Roles = []Role{Operator, TenantAdmin, Deployer, Auditor}

// A caller is who sends a request.
type caller struct {
	name   string // for operators and the record of what was done, as in "uid 1000"
	via    string // socket, tls or page
	role   Role
	tenant string // of a caller that may use one tenant only; empty for all
}

type callerKey struct{}

// callerOf returns who sends a request that was permitted.
func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// actorOf says who sends a request, for operators.
func actorOf(ctx context.Context) string { return callerOf(ctx).name }

// sees reports whether a caller may see a tenant.
func (c caller) sees(tenantID string) bool { return c.tenant == "" || c.tenant == tenantID }

// identify finds out who sends a request.
func (s *Server) identify(r *http.Request) (caller, error) {
	if p, ok := r.Context().Value(personKey{}).(Person); ok {
		return s.identifyPerson(p)
	}
	if p, ok := r.Context().Value(peerKey{}).(peer); ok {
		return identifyPeer(p)
	}
	if r.TLS == nil {
		return caller{}, forbidden("the connection is neither a Unix socket nor encrypted")
	}
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		return caller{}, forbidden("a web page of another origin has sent the request: %v", err)
	}
	if r.Header.Get("Authorization") == "" {
		c, err := s.identifyCertificate(r.TLS)
		if err != nil {
			s.cfg.Refused(addressOf(r))
		}
		return c, err
	}
	return s.identifyKey(r)
}

// addressOf returns the address that a request comes from.
func addressOf(r *http.Request) netip.Addr {
	from, _ := netip.ParseAddrPort(r.RemoteAddr)
	return from.Addr().Unmap()
}

func identifyPeer(p peer) (caller, error) {
	if p.err != nil {
		return caller{}, forbidden("the user at the other end is unknown: %v", p.err)
	}
	if own := os.Geteuid(); p.known && p.uid != 0 && p.uid != own {
		return caller{}, forbidden("user %d may not administer this server: only user %d and root may", p.uid, own)
	}
	c := caller{name: "admin socket", via: "socket", role: Operator}
	if p.known {
		c.name = fmt.Sprintf("uid %d", p.uid)
	}
	return c, nil
}

// identifyCertificate finds the client of a certificate that TLS has verified.
func (s *Server) identifyCertificate(state *tls.ConnectionState) (caller, error) {
	tlsSettings := s.cfg.Host.Settings().Admin.TLS
	if len(state.VerifiedChains) == 0 || tlsSettings == nil {
		return caller{}, &Problem{Status: http.StatusUnauthorized, Code: CodeNoAccess, Detail: "the request has no admin key: 'wasmres admin-key new' makes one"}
	}
	if c := s.clientOf(state); c != nil {
		return caller{name: "certificate " + c.Name, via: "tls", role: Role(c.Role), tenant: c.Tenant}, nil
	}
	return caller{}, &Problem{
		Status: http.StatusUnauthorized, Code: CodeNoAccess, Detail: "admin.tls.clients of serve.yaml has no client with a name of the certificate, and the request has no admin key",
	}
}

// clientOf returns the client in the settings whose certificate TLS has verified; nil for none.
func (s *Server) clientOf(state *tls.ConnectionState) *tenant.AdminClient {
	at := s.cfg.Host.Settings().Admin.TLS
	if at == nil || state == nil || len(state.VerifiedChains) == 0 {
		return nil
	}
	names := certificateNames(state.VerifiedChains[0][0])
	for i, c := range at.Clients {
		if slices.Contains(names, c.Name) {
			return &at.Clients[i]
		}
	}
	return nil
}

// certificateNames returns the names by which a certificate may be known: its URIs and DNS names, or else its common name.
func certificateNames(c *x509.Certificate) []string {
	names := slices.Clone(c.DNSNames)
	for _, u := range c.URIs {
		names = append(names, u.String())
	}
	if len(names) == 0 && c.Subject.CommonName != "" {
		names = append(names, c.Subject.CommonName)
	}
	return names
}

// noKey is what a text is compared with if there is no key of its ID.
var noKey = &tenant.AdminKey{}

// identifyKey finds the admin key of a request. How long it takes does not depend on the secret part of the key. After an address
// has shown ten different bad keys in a minute, it is told to wait; a good key is accepted all the same.
func (s *Server) identifyKey(r *http.Request) (caller, error) {
	header := r.Header.Get("Authorization")
	id, sum, ok := tokens.ParseAdmin(header)
	k := s.cfg.Host.Snapshot().AdminKeys[id]
	isKnown := ok && k != nil
	if !isKnown {
		k = noKey
	}
	isRight := subtle.ConstantTimeCompare(sum[:], k.SHA256[:]) == 1
	if isKnown && isRight && (k.Expires.IsZero() || time.Now().Before(k.Expires)) {
		return caller{name: "admin key " + k.ID, via: "tls", role: Role(k.Role), tenant: k.Tenant}, nil
	}
	s.cfg.Refused(addressOf(r))
	err := s.failures.Add("", auth.Credential{Authorization: header, Address: addressOf(r)})
	var many *auth.TooManyError
	if errors.As(err, &many) {
		return caller{}, &Problem{Status: http.StatusTooManyRequests, Code: CodeTooMany, Detail: "too many bad admin keys came from this address: wait a minute"}
	}
	return caller{}, &Problem{Status: http.StatusUnauthorized, Code: CodeNoAccess, Detail: "the admin key is not valid: it is unknown, revoked or has expired"}
}

// permit refuses a caller whose role or tenant does not allow an endpoint.
func (e *endpoint) permit(c caller, r *http.Request) error {
	if !slices.Contains(e.may, c.role) {
		return forbidden("the role %s may not do this: %s", c.role, e.whoMay())
	}
	switch {
	case c.tenant == "" || e.own:
		return nil
	case !e.isOfTenant():
		return forbidden("this is about the whole server, and your credential is for the tenant %s", c.tenant)
	case r.PathValue("tenant") != c.tenant:
		return forbidden("your credential is for the tenant %s, not for %q", c.tenant, strict.Clip(r.PathValue("tenant")))
	}
	return nil
}

// whoMay says which roles may use an endpoint.
func (e *endpoint) whoMay() string {
	words := make([]string, len(e.may))
	for i, role := range e.may {
		words[i] = string(role)
	}
	return "the roles that may are " + joined(words)
}

func forbidden(format string, args ...any) error {
	return &Problem{Status: http.StatusForbidden, Code: CodeForbidden, Detail: fmt.Sprintf(format, args...)}
}
