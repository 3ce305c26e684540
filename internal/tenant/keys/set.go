package keys

import (
	"crypto/subtle"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/auth/failures"
	"github.com/wasmres/wasmres/runtime/auth/tokens"
)

// expiryInterval is how often a Set looks for keys that have expired.
const expiryInterval = 250 * time.Millisecond

// Config configures a Set. Its zero value is usable. The functions must not block.
type Config struct {
	// Now gives the time at which keys expire; nil is for [time.Now]. It must not go back, or else keys live again after a
	// restart.
	Now func() time.Time
	// FirstUse gets each key that is used for the first time on a day. Nil discards.
	FirstUse func(*tenant.Key)
	// Refused gets the tenant and the address of each client with a bad credential. Nil discards.
	Refused func(tenantID string, from netip.Addr)
	// Decided gets each decision: on the credential of a client, which is [CredentialNone] or [CredentialKey], and its error;
	// nil for one that is good. Nil discards.
	Decided func(credential string, err error)
}

// Kinds of credentials.
const (
	CredentialNone = "none"
	CredentialKey  = "key"
)

// A Set has the keys of all tenants. It is safe for concurrent use.
type Set struct {
	// fixed at creation
	cfg  Config
	stop chan struct{} // closed by Close
	done chan struct{} // closed when expire has ended

	current  atomic.Pointer[table]
	updating sync.Mutex // held while current is replaced
	failures failures.Counter
	uses     uses

	closeOnce sync.Once
}

// A table has the keys of one snapshot. It is immutable.
type table struct {
	of      *tenant.Snapshot
	keys    map[string]*entry  // by ID
	tenants map[string]*access // those that are served
}

// An entry is one key.
type entry struct {
	key    *tenant.Key
	access *access // of its tenant
	client *client
}

// NewSet makes a Set without keys. The caller calls Close.
func NewSet(c Config) *Set {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.FirstUse == nil {
		c.FirstUse = func(*tenant.Key) {}
	}
	if c.Refused == nil {
		c.Refused = func(string, netip.Addr) {}
	}
	if c.Decided == nil {
		c.Decided = func(string, error) {}
	}
	s := &Set{cfg: c, stop: make(chan struct{}), done: make(chan struct{})}
	s.current.Store(&table{of: &tenant.Snapshot{}})
	go s.expire()
	return s
}

// Close ends all identities. It is idempotent.
func (s *Set) Close() error {
	s.closeOnce.Do(func() {
		close(s.stop)
		<-s.done
		s.Update(&tenant.Snapshot{})
	})
	return nil
}

// Update makes the keys those of a snapshot. Keys whose rights are the same keep their identities; the identities of all
// others have ended when Update returns. The keys of a disabled tenant are invalid. Update is quick where few tenants have changed.
func (s *Set) Update(snapshot *tenant.Snapshot) {
	s.updating.Lock()
	defer s.updating.Unlock()
	now, ended := s.current.Load().next(snapshot)
	s.current.Store(now) // before clients end: a request with an ended one looks here again
	for _, c := range ended {
		c.end()
	}
}

// next gives the table of a snapshot, with the clients of the old one whose rights are the same, and the others, which end.
func (old *table) next(s *tenant.Snapshot) (now *table, ended []*client) {
	now = &table{of: s, keys: old.keys, tenants: old.tenants}
	changed := map[string]bool{} // tenants, by ID
	for _, id := range s.ChangedSince(old.of) {
		was, t := old.tenants[id], s.Tenants[id]
		isServed := t != nil && !t.Disabled
		if was == nil && !isServed || was != nil && was.of == t && isServed {
			continue
		}
		if len(changed) == 0 {
			now.tenants = make(map[string]*access, len(s.Tenants))
			maps.Copy(now.tenants, old.tenants)
		}
		changed[id] = true
		delete(now.tenants, id)
		if isServed {
			now.tenants[id] = newAccess(t, was)
		}
		if was != nil && (!isServed || now.tenants[id].anonymous != was.anonymous) {
			ended = append(ended, was.anonymous)
		}
	}
	isSame := tenant.IsSameMap(s.Keys, old.of.Keys)
	if isSame && len(changed) == 0 {
		return now, ended
	}
	now.keys = make(map[string]*entry, len(s.Keys))
	for id, k := range s.Keys {
		was := old.keys[id]
		if isSame && !changed[k.Tenant] {
			if was != nil {
				now.keys[id] = was
			}
			continue
		}
		if e := now.entryOf(k, was); e != nil {
			now.keys[id] = e
		}
	}
	for id, was := range old.keys {
		if kept := now.keys[id]; kept == nil || kept.client != was.client {
			ended = append(ended, was.client)
		}
	}
	return now, ended
}

// entryOf gives the entry of a key; nil if its tenant is not served. was is its entry before; nil for none.
func (now *table) entryOf(k *tenant.Key, was *entry) *entry {
	a := now.tenants[k.Tenant]
	switch {
	case a == nil:
		return nil
	case was != nil && was.key == k && was.access == a:
		return was
	case was != nil && was.isStill(k, a.of):
		return &entry{k, a, was.client}
	}
	return &entry{k, a, &client{}}
}

// isStill reports whether a key has the same rights now, so that its client may go on. A key with another end may, unless it
// has expired already.
func (e *entry) isStill(k *tenant.Key, t *tenant.Tenant) bool {
	was := e.key
	return was.Tenant == k.Tenant && was.Name == k.Name && was.SHA256 == k.SHA256 && slices.Equal(was.Roles, k.Roles) &&
		slices.Equal(was.URIs, k.URIs) && slices.Equal(was.Networks, k.Networks) && IsSameRoles(k.Roles, e.access.of, t) &&
		(was.Expires.Equal(k.Expires) || !e.client.hasEnded())
}

// IsSameRoles reports whether roles, by their names, are the same in two states of a tenant.
func IsSameRoles(names []string, a, b *tenant.Tenant) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !reflect.DeepEqual(roleOf(a, name), roleOf(b, name)) })
}

// roleOf gives a role of a tenant; nil for none.
func roleOf(t *tenant.Tenant, name string) *tenant.Role {
	for i := range t.Roles {
		if t.Roles[i].Name == name {
			return &t.Roles[i]
		}
	}
	return nil
}

func (e *entry) hasExpired(now time.Time) bool {
	return !e.key.Expires.IsZero() && !now.Before(e.key.Expires)
}

// expire ends the clients of keys that have expired, until the Set is closed.
func (s *Set) expire() {
	defer close(s.done)
	tick := time.NewTicker(expiryInterval)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
			for e := range maps.Values(s.current.Load().keys) {
				if e.hasExpired(s.cfg.Now()) {
					e.client.end() // for good: a clock that is set back does not bring it back
				}
			}
		}
	}
}

// Authenticator returns that of the clients of a tenant. It follows later updates; of a tenant that does not exist it refuses
// all.
func (s *Set) Authenticator(tenantID string) auth.Authenticator { return authenticator{s, tenantID} }

type authenticator struct {
	set    *Set
	tenant string
}

// Challenge implements [auth.Authenticator].
func (authenticator) Challenge(string) string { return `Bearer realm="wasmres"` }

// Authenticate implements [auth.Authenticator]. How long it takes does not depend on the secret part of a key, and an answer
// does not tell a key of another tenant from one that does not exist. After a client's address has shown ten different bad
// credentials in a minute, the error for another is an [auth.TooManyError]; a good one is accepted all the same, since many
// clients may share an address.
func (a authenticator) Authenticate(c auth.Credential) (*auth.Identity, error) {
	credential, decide := CredentialKey, a.byKey
	if c.Authorization == "" {
		credential, decide = CredentialNone, a.anonymous
	}
	identity, err := decide(c)
	a.set.cfg.Decided(credential, err)
	return identity, err
}

// byKey gives the identity of a client that shows something.
func (a authenticator) byKey(c auth.Credential) (*auth.Identity, error) {
	id, sum, ok := tokens.Parse(c.Authorization)
	for ok {
		now := a.set.current.Load()
		identity := a.identity(now, id, sum, c.Address)
		if identity != nil {
			return identity, nil
		}
		if a.set.current.Load() == now {
			break
		}
	}
	return nil, a.set.Refuse(a.tenant, c)
}

// Refuse counts a bad credential that was shown to a tenant, and returns the error for it. Authenticators of a Set do so by
// themselves.
func (s *Set) Refuse(tenantID string, c auth.Credential) error {
	s.cfg.Refused(tenantID, c.Address)
	return s.failures.Add(tenantID, c)
}

// IsSuspect reports whether the address of a client has shown a tenant as many bad credentials as it may within a minute, and
// when that minute ends. It may report so of others while very many addresses show bad ones.
func (s *Set) IsSuspect(tenantID string, c auth.Credential) (until time.Duration, is bool) {
	return s.failures.Exceeded(tenantID, c.Address)
}

// anonymous gives the identity of clients that show nothing.
func (a authenticator) anonymous(auth.Credential) (*auth.Identity, error) {
	for {
		now := a.set.current.Load()
		access := now.tenants[a.tenant]
		if access == nil || len(access.of.Anonymous) == 0 {
			return nil, auth.ErrMissing
		}
		identity := access.anonymous.get(access.makeAnonymous)
		switch {
		case identity != nil && identity.PermitsNothing():
			return nil, auth.ErrMissing
		case identity != nil:
			return identity, nil
		case a.set.current.Load() == now:
			return nil, auth.ErrMissing
		}
	}
}

// noKey is what a text is compared with if there is no key of its ID.
var noKey = &entry{key: &tenant.Key{}, client: &client{}}

// identity gives that of a key in a table; nil if the key is not valid there.
func (a authenticator) identity(now *table, id string, sum [32]byte, from netip.Addr) *auth.Identity {
	e := now.keys[id]
	isKnown := e != nil && e.key.Tenant == a.tenant
	if !isKnown {
		e = noKey
	}
	isRight := subtle.ConstantTimeCompare(sum[:], e.key.SHA256[:]) == 1
	if at := a.set.cfg.Now(); !isKnown || !isRight || e.hasExpired(at) || !e.mayComeFrom(from) {
		return nil
	}
	identity := e.client.get(e.makeIdentity)
	if identity != nil && a.set.uses.note(e) {
		a.set.cfg.FirstUse(e.key)
	}
	return identity
}

func (e *entry) mayComeFrom(address netip.Addr) bool {
	return len(e.key.Networks) == 0 ||
		slices.ContainsFunc(e.key.Networks, func(n netip.Prefix) bool { return n.Contains(address) })
}
