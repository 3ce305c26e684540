package certs

import (
	"context"
	"crypto/x509"
	"log/slog"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/internal/lru"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/keys"
	"github.com/wasmres/wasmres/internal/throttle"
	"github.com/wasmres/wasmres/runtime/auth"
)

const (
	maxKnown    = 1_000 // certificates of one tenant that are remembered
	refusedTime = 10 * time.Second
)

// Clients authenticate by other credentials.
type Clients interface {
	Update(*tenant.Snapshot)
	Authenticator(tenantID string) auth.Authenticator
}

// Config configures a Set. Others and Keys are required; the caller closes both after the Set.
type Config struct {
	Others Clients
	Keys   *keys.Set // counts bad certificates as bad keys
	// Decided gets the error of each decision on a certificate, as [auth.Authenticator] has it; nil for a good one. It must not
	// block. Nil discards.
	Decided func(err error)
	Now     func() time.Time // gives the time; nil is for [time.Now]
	Logger  *slog.Logger     // nil discards
}

// A Set authenticates the clients of all tenants. It is safe for concurrent use.
type Set struct {
	// fixed at creation
	cfg Config
	log *throttle.Log

	current  atomic.Pointer[table]
	updating sync.Mutex       // held while current is replaced
	snapshot *tenant.Snapshot // of current; guarded by updating
}

// A table has the tenants of one snapshot that accept certificates, by ID. It is immutable.
type table map[string]*clients

// clients are those of one tenant that show certificates.
type clients struct {
	// fixed at creation
	of    *tenant.Tenant
	roots *x509.CertPool
	ctx   context.Context // until the tenant's authorities or roles change
	end   context.CancelFunc

	known   *lru.Cache[sum, *auth.Identity]
	refused *lru.Cache[sum, time.Time] // until when a certificate is not verified again
}

// New makes a Set without tenants. The caller closes it.
func New(cfg Config) *Set {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Decided == nil {
		cfg.Decided = func(error) {}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Set{cfg: cfg, log: throttle.New(cfg.Logger), snapshot: &tenant.Snapshot{}}
	s.current.Store(&table{})
	return s
}

// Close ends the identities of all certificates. It is idempotent.
func (s *Set) Close() error {
	s.update(&tenant.Snapshot{})
	s.log.Close()
	return nil
}

// Update makes the authorities those of a snapshot, and has Others follow. The identities of certificates end of a tenant whose
// authorities or roles have changed.
func (s *Set) Update(snapshot *tenant.Snapshot) {
	s.cfg.Others.Update(snapshot)
	s.update(snapshot)
}

func (s *Set) update(snapshot *tenant.Snapshot) {
	s.updating.Lock()
	defer s.updating.Unlock()
	changed := snapshot.ChangedSince(s.snapshot)
	s.snapshot = snapshot
	old := *s.current.Load()
	next := old
	var ended []*clients
	isOwned := false // next may be changed
	for _, id := range changed {
		c, t := old[id], snapshot.Tenants[id]
		accepts := t != nil && !t.Disabled && t.Certificates != nil
		if c == nil && !accepts || c != nil && accepts && (c.of == t || isSame(c.of, t)) {
			continue
		}
		if !isOwned {
			next, isOwned = maps.Clone(old), true
		}
		delete(next, id)
		if accepts {
			next[id] = newClients(t)
		}
		if c != nil {
			ended = append(ended, c)
		}
	}
	s.current.Store(&next) // before clients end: a request with an ended one looks here again
	for _, c := range ended {
		c.end()
	}
}

// isSame reports whether certificates give the same identities in two states of a tenant.
func isSame(a, b *tenant.Tenant) bool {
	return reflect.DeepEqual(a.Certificates, b.Certificates) && reflect.DeepEqual(a.Roles, b.Roles)
}

func newClients(t *tenant.Tenant) *clients {
	c := &clients{
		of: t, roots: x509.NewCertPool(),
		known:   lru.New(maxKnown, func(sum, *auth.Identity) int64 { return 1 }),
		refused: lru.New(maxKnown, func(sum, time.Time) int64 { return 1 }),
	}
	c.roots.AppendCertsFromPEM([]byte(t.Certificates.Authorities)) // they were read when the tenant was
	c.ctx, c.end = context.WithCancel(context.Background())
	return c
}

// of returns the clients of a tenant; nil if it accepts no certificates.
func (s *Set) of(tenantID string) *clients { return (*s.current.Load())[tenantID] }

// Asks reports whether some tenant accepts certificates, so that clients must be asked for them by TLS. It is cheap.
func (s *Set) Asks() bool { return len(*s.current.Load()) > 0 }

// Authenticator returns that of the clients of a tenant. It follows later updates. It is an [auth.Waiter] and an [auth.Scoped] where
// that of Others is.
func (s *Set) Authenticator(tenantID string) auth.Authenticator {
	a := &authenticator{s, tenantID, s.cfg.Others.Authenticator(tenantID)}
	waiter, waits := a.others.(auth.Waiter)
	scoped, hasScopes := a.others.(auth.Scoped)
	if waits && hasScopes {
		return &waiting{a, waiter, scoped}
	}
	return a
}
