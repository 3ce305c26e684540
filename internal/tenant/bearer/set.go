package bearer

import (
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/internal/oauth"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/keys"
	"github.com/wasmres/wasmres/internal/throttle"
	"github.com/wasmres/wasmres/internal/tokenbucket"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/capability/secret"
)

// Config configures a Set. Keys and Verifier are required; the caller closes both after the Set.
type Config struct {
	Keys     *keys.Set
	Verifier *oauth.Verifier
	// ServerURL is how clients reach the server, without a path and a slash at its end. It is part of the names of all resources.
	ServerURL string
	// Secret opens a sealed secret of a tenant; nil refuses them.
	Secret func(tenantID, name string) (secret.Value, error)
	// Decided gets the error of each decision on a token, as [auth.Authenticator] has it; nil for a good one. It must not block. Nil
	// discards.
	Decided func(err error)
	Logger  *slog.Logger // nil discards
}

// A Set authenticates the clients of all tenants. It is safe for concurrent use.
type Set struct {
	// fixed at creation
	cfg   Config
	began time.Time
	log   *throttle.Log

	current  atomic.Pointer[table]
	updating sync.Mutex // held while current is replaced

	suspects tokenbucket.Bucket // of tokens to verify that addresses send which have sent bad ones
}

// A table has the tenants of one snapshot that accept tokens, by ID. It is immutable.
type table map[string]*clients

// New makes a Set without tenants. The caller closes it.
func New(cfg Config) *Set {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Decided == nil {
		cfg.Decided = func(error) {}
	}
	s := &Set{cfg: cfg, began: time.Now(), log: throttle.New(cfg.Logger)}
	s.current.Store(&table{})
	return s
}

// Close ends the identities of all tokens. It is idempotent.
func (s *Set) Close() error {
	s.replace(table{})
	s.log.Close()
	return nil
}

// Update makes the issuers those of a snapshot, and the keys those of the Set of keys. The identities of tokens end of a tenant
// whose issuers, roles or hosts have changed.
func (s *Set) Update(snapshot *tenant.Snapshot) {
	s.cfg.Keys.Update(snapshot)
	next, old := table{}, *s.current.Load()
	accepting := 0
	for _, t := range snapshot.Tenants {
		if len(t.Issuers) > 0 {
			accepting++
		}
	}
	var issuers []*oauth.Issuer
	for id, t := range snapshot.Tenants {
		if t.Disabled || len(t.Issuers) == 0 {
			continue
		}
		c := old[id]
		if c == nil || c.of != t && !isSame(c.of, t) {
			c = s.newClients(t, accepting)
		}
		next[id] = c
		for _, i := range c.issuers {
			issuers = append(issuers, i)
		}
	}
	s.replace(next)
	s.cfg.Verifier.Retain(issuers)
}

// isSame reports whether tokens give the same identities in two states of a tenant.
func isSame(a, b *tenant.Tenant) bool {
	return a.Owner == b.Owner && slices.Equal(a.Hosts, b.Hosts) && slices.Equal(a.Scopes, b.Scopes) &&
		reflect.DeepEqual(a.Issuers, b.Issuers) && reflect.DeepEqual(a.Roles, b.Roles)
}

// replace makes another table the present one, and ends the clients that are not in it.
func (s *Set) replace(next table) {
	s.updating.Lock()
	defer s.updating.Unlock()
	old := *s.current.Load()
	s.current.Store(&next) // before clients end: a request with an ended one looks here again
	for id, c := range old {
		if next[id] != c {
			c.end()
		}
	}
}

// of returns the clients of a tenant; nil if it accepts no tokens.
func (s *Set) of(tenantID string) *clients { return (*s.current.Load())[tenantID] }

// Authenticator returns that of the clients of a tenant, by tokens and by keys. It follows later updates. It is an [auth.Waiter]
// and an [auth.Scoped].
func (s *Set) Authenticator(tenantID string) auth.Authenticator {
	return &authenticator{s, tenantID, s.cfg.Keys.Authenticator(tenantID)}
}

// Metadata returns what a tenant says of one of its endpoints (RFC 9728): that at a host, or, if that is empty, that at a path of the server.
// It is nil if the tenant accepts no tokens or has no such host.
func (s *Set) Metadata(tenantID, host string) []byte {
	c := s.of(tenantID)
	if c == nil {
		return nil
	}
	r := oauth.Resource{URL: c.resource(host), Scopes: c.of.SignInScopes(), Name: c.of.ID}
	if r.URL == "" {
		return nil
	}
	for i := range c.of.Issuers {
		r.Issuers = append(r.Issuers, c.of.Issuers[i].URL)
	}
	return r.Metadata()
}

// resourcesOf returns the URLs of the endpoints of a tenant: that at its path, then those at its hosts.
func resourcesOf(serverURL string, t *tenant.Tenant) []string {
	all := []string{serverURL + "/t/" + t.ID + "/mcp"}
	scheme, server, _ := strings.Cut(serverURL, "://")
	port := ""
	if colon := strings.LastIndexByte(server, ':'); colon > strings.LastIndexByte(server, ']') {
		port = server[colon:]
	}
	for _, host := range t.Hosts {
		all = append(all, scheme+"://"+host+port+"/mcp")
	}
	return all
}
