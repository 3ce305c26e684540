package bearer

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/lru"
	"github.com/wasmres/wasmres/internal/oauth"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/auth"
)

const (
	maxKnown     = 50_000 // identities of all tenants, about
	minKnown     = 500    // of one tenant
	maxTenant    = 5_000  // of one tenant
	maxRefused   = 1_000  // bad tokens of one tenant that are remembered
	maxRights    = 1_000  // different rights of tokens of one tenant that last while a change does not touch them; all others end with any
	maxWaiting   = 256    // requests of one tenant that wait for an issuer
	opaqueTime   = time.Minute
	refusedTime  = 10 * time.Second
	maxSubject   = 255 // bytes, of the claim sub (RFC 7519 leaves it open; OpenID Connect §2 has 255)
	maxSecret    = 4 << 10
	defaultClaim = "roles"
)

// A sum is the SHA-256 of a token.
type sum [32]byte

// clients are those of one tenant that show tokens.
type clients struct {
	// fixed at creation
	of        *tenant.Tenant
	issuers   map[string]*oauth.Issuer  // by URL
	roles     map[string]*tenant.Issuer // by URL
	opaque    *oauth.Issuer             // is asked about opaque tokens; nil for none
	resources []string
	scopes    map[string][]string // that the rules of a role name
	ctx       context.Context     // until the tenant's issuers, roles or hosts change
	end       context.CancelFunc

	known   *lru.Cache[sum, *known]    // that of the state before, if there was one
	refused *lru.Cache[sum, time.Time] // until when a token is not verified again
	waiting chan struct{}              // has an entry for each request that waits for an issuer

	mu         sync.Mutex                  // guards the fields below; of two states, the old one's is taken first
	asking     map[sum]chan struct{}       // tokens about which an issuer is asked; each is closed after that
	rights     map[string]*rights          // at most maxRights
	moreRights *lru.Cache[string, *rights] // that end with ctx
	isReplaced bool                        // the next state has taken over the rights
}

// known is a token that was verified. It is immutable.
type known struct {
	identity   *auth.Identity
	rights     *rights
	until      time.Time // when it is verified again; zero for never
	thumbprint string    // of the certificate that the client must show; empty for none
}

// newClients makes those of one of a number of tenants. old are those of its state before; nil for none.
func (s *Set) newClients(t *tenant.Tenant, tenants int, old *clients) *clients {
	one := func(sum, *known) int64 { return 1 }
	size := int64(min(max(maxKnown/max(tenants, 1), minKnown), maxTenant))
	c := &clients{
		of: t, issuers: map[string]*oauth.Issuer{}, roles: map[string]*tenant.Issuer{}, resources: s.resourcesOf(t),
		known:   lru.New(size, one),
		refused: lru.New(maxRefused, func(sum, time.Time) int64 { return 1 }),
		waiting: make(chan struct{}, maxWaiting), asking: map[sum]chan struct{}{}, scopes: map[string][]string{}, rights: map[string]*rights{},
		moreRights: lru.New(maxRights, func(string, *rights) int64 { return 1 }),
	}
	c.ctx, c.end = context.WithCancel(context.Background())
	for _, role := range t.Roles {
		for _, rule := range role.Rules {
			if rule.Scope != "" {
				c.scopes[role.Name] = append(c.scopes[role.Name], rule.Scope)
			}
		}
	}
	for i := range t.Issuers {
		is := &t.Issuers[i]
		one := &oauth.Issuer{
			URL: is.URL, Audiences: is.Audiences, Types: is.TokenTypes(), Discovery: is.Discovery, Keys: is.Keys,
			PublicOnly: t.Owner != tenant.OwnerFiles, Insecure: is.Insecure,
		}
		if in := is.Introspection; in != nil {
			one.Introspection = &oauth.Introspection{URL: in.URL, ClientID: in.ClientID, Secret: s.secretOf(t.ID, in)}
			c.opaque = one
		}
		c.issuers[is.URL], c.roles[is.URL] = one, is
	}
	if old != nil {
		c.inherit(old)
	}
	return c
}

// secretOf returns a function that gives the secret by which the server authenticates itself to an issuer.
func (s *Set) secretOf(tenantID string, in *tenant.Introspection) func() (string, error) {
	return func() (string, error) {
		if in.SecretFile != "" {
			text, err := os.ReadFile(in.SecretFile)
			if err == nil && len(text) > maxSecret {
				err = errors.New("the file is longer than 4 KiB")
			}
			return strings.TrimRight(string(text), "\r\n"), err
		}
		if s.cfg.Secret == nil {
			return "", errors.New("the server has no secrets")
		}
		value, err := s.cfg.Secret(tenantID, in.Secret)
		if err != nil {
			return "", err
		}
		return value.Reveal(), nil
	}
}

// resource returns the URL of the endpoint at a host, or, if that is empty, at the path of the tenant; empty for none.
func (c *clients) resource(host string) string {
	if host == "" {
		return c.resources[0]
	}
	if i := slices.Index(c.of.Hosts, host); i >= 0 {
		return c.resources[i+1]
	}
	return ""
}

// identify makes the identity of a token with these claims, until a time. renew, if it is not nil, is asked then whether it goes on.
func (c *clients) identify(claims *oauth.Claims, until time.Time, renew auth.Renew) (*known, error) {
	if len(claims.Subject) > maxSubject || !utf8.ValidString(claims.Subject) || strings.ContainsFunc(claims.Subject, printable.Hidden) {
		return nil, &oauth.InvalidError{Reason: "its subject is too long, or has characters that are not shown"}
	}
	k := &known{rights: c.rightsOf(claims), until: until, thumbprint: claims.Thumbprint}
	p := abi.Principal{Subject: claims.Issuer + "#" + claims.Subject, Scopes: claims.Scopes}
	if renew == nil {
		k.identity = k.rights.identity.As(k.rights.ctx, p, until)
	} else {
		k.identity = k.rights.identity.As(k.rights.ctx, p, time.Time{}).RenewedBy(until, renew)
	}
	return k, nil
}

// rolesOf returns the names of the roles that claims give, sorted.
func (c *clients) rolesOf(claims *oauth.Claims) []string {
	by := c.roles[claims.Issuer]
	roles := slices.Clone(by.Roles)
	if len(by.Map) > 0 {
		name := by.RolesClaim
		if name == "" {
			name = defaultClaim
		}
		for _, value := range claims.Values(name) {
			roles = append(roles, by.Map[value]...)
		}
	}
	slices.Sort(roles)
	return slices.Compact(roles)
}
