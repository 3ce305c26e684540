package bearer

import (
	"log/slog"
	"maps"
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
	// Endpoint is the URL of the only endpoint of the only tenant; empty for those that ServerURL and the hosts of tenants give.
	Endpoint string
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
	updating sync.Mutex       // held while current is replaced
	snapshot *tenant.Snapshot // of current; guarded by updating

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
	s := &Set{cfg: cfg, began: time.Now(), log: throttle.New(cfg.Logger), snapshot: &tenant.Snapshot{}}
	s.current.Store(&table{})
	return s
}

// Close ends the identities of all tokens. It is idempotent.
func (s *Set) Close() error {
	s.update(&tenant.Snapshot{})
	s.log.Close()
	return nil
}

// Update makes the issuers those of a snapshot, and the keys those of the Set of keys. The identities of those tokens end whose
// issuer, role or endpoint has changed.
func (s *Set) Update(snapshot *tenant.Snapshot) {
	s.cfg.Keys.Update(snapshot)
	s.update(snapshot)
}

func (s *Set) update(snapshot *tenant.Snapshot) {
	s.updating.Lock()
	defer s.updating.Unlock()
	changed := snapshot.ChangedSince(s.snapshot)
	s.snapshot = snapshot
	old := *s.current.Load()
	next := changesOf(old, snapshot, changed)
	if len(next) == 0 {
		return
	}
	accepting := 0
	for _, t := range snapshot.Tenants {
		if len(t.Issuers) > 0 {
			accepting++
		}
	}
	now := make(table, accepting)
	maps.Copy(now, old)
	for id, t := range next {
		delete(now, id)
		if t != nil {
			now[id] = s.newClients(t, accepting, old[id])
		}
	}
	s.current.Store(&now) // before clients end: a request with an ended one looks here again
	for id := range next {
		if c := old[id]; c != nil {
			c.endBut(now[id])
		}
	}
	var issuers []*oauth.Issuer
	for _, c := range now {
		for _, i := range c.issuers {
			issuers = append(issuers, i)
		}
	}
	s.cfg.Verifier.Retain(issuers)
}

// changesOf returns, of the tenants that may have changed, those whose clients a table has to replace, by ID; nil for one that
// accepts no tokens any more.
func changesOf(old table, s *tenant.Snapshot, changed []string) map[string]*tenant.Tenant {
	next := map[string]*tenant.Tenant{}
	for _, id := range changed {
		c, t := old[id], s.Tenants[id]
		switch accepts := t != nil && !t.Disabled && len(t.Issuers) > 0; {
		case !accepts && c != nil:
			next[id] = nil
		case accepts && (c == nil || c.of != t && !isSame(c.of, t)):
			next[id] = t
		}
	}
	return next
}

// isSame reports whether all tokens give the same identities in two states of a tenant.
func isSame(a, b *tenant.Tenant) bool {
	return a.Owner == b.Owner && slices.Equal(a.Hosts, b.Hosts) && slices.Equal(a.Scopes, b.Scopes) &&
		reflect.DeepEqual(a.Issuers, b.Issuers) && reflect.DeepEqual(a.Roles, b.Roles)
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
func (s *Set) resourcesOf(t *tenant.Tenant) []string {
	if s.cfg.Endpoint != "" {
		return []string{s.cfg.Endpoint}
	}
	all := []string{s.cfg.ServerURL + "/t/" + t.ID + "/mcp"}
	scheme, server, _ := strings.Cut(s.cfg.ServerURL, "://")
	port := ""
	if colon := strings.LastIndexByte(server, ':'); colon > strings.LastIndexByte(server, ']') {
		port = server[colon:]
	}
	for _, host := range t.Hosts {
		all = append(all, scheme+"://"+host+port+"/mcp")
	}
	return all
}
