package keys

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/auth/tokens"
)

// Defaults of Options and of Rotate.
const (
	DefaultLife  = 90 * 24 * time.Hour
	DefaultGrace = 24 * time.Hour
)

// Bounds of a key.
const (
	maxRoles    = 100
	maxURIs     = 1000
	maxNetworks = 1000
)

// Options say what a key is.
type Options struct {
	URIs     []string       // patterns that narrow what the roles permit; none does not
	Networks []netip.Prefix // from which it may be used; none for any
	Life     time.Duration  // from now; zero means DefaultLife
	Never    bool           // it does not expire; Life must be zero
	Creator  string         // who makes it, for the operator
}

// New makes a key with some roles of a tenant. text is for the client alone; the caller gives k to the store. name is the
// subject of the client's principal.
func New(t *tenant.Tenant, name string, roles []string, o Options) (text string, k *tenant.Key, err error) {
	if err := check(t, name, roles, &o); err != nil {
		return "", nil, fmt.Errorf("new key for tenant %s: %w", t.ID, err)
	}
	now := time.Now().UTC().Truncate(time.Second)
	k = &tenant.Key{
		Tenant: t.ID, Name: name, Roles: slices.Clone(roles), URIs: slices.Clone(o.URIs), Created: now, Creator: o.Creator,
	}
	for _, network := range o.Networks {
		k.Networks = append(k.Networks, network.Masked())
	}
	if !o.Never {
		k.Expires = now.Add(o.Life)
	}
	text, k.ID, k.SHA256 = tokens.New()
	return text, k, nil
}

// check checks what a key shall be, and sets the default life.
func check(t *tenant.Tenant, name string, roles []string, o *Options) error {
	if err := tokens.CheckName(name); err != nil {
		return err
	}
	if name == auth.Anonymous {
		return fmt.Errorf("the name %s is that of clients without a key: choose another", name)
	}
	if err := checkRoles(t, roles); err != nil {
		return err
	}
	if len(o.URIs) > maxURIs || len(o.Networks) > maxNetworks {
		return fmt.Errorf("at most %d patterns and %d networks are allowed", maxURIs, maxNetworks)
	}
	for _, uri := range o.URIs {
		if _, err := auth.ParsePattern(uri); err != nil {
			return err
		}
	}
	for _, network := range o.Networks {
		if !network.IsValid() || network.Addr().Is4In6() {
			return fmt.Errorf("%s is not a network: write it like 10.0.0.0/8", network)
		}
	}
	switch {
	case o.Never && o.Life != 0:
		return errors.New("a key that never expires has no life: leave one of the two out")
	case o.Life == 0:
		o.Life = DefaultLife
	case o.Life < 0:
		return fmt.Errorf("a life of %v is not positive", o.Life)
	}
	return nil
}

func checkRoles(t *tenant.Tenant, roles []string) error {
	if len(roles) == 0 || len(roles) > maxRoles {
		return fmt.Errorf("a key has at least one role and at most %d", maxRoles)
	}
	var known []string
	for i := range t.Roles {
		known = append(known, t.Roles[i].Name)
	}
	for _, name := range roles {
		if _, err := strict.Word("role of the tenant", name, known); err != nil {
			return err
		}
	}
	return nil
}

// Rotate makes a key with the rights, and as long a life, as another one has. ending is the old key with an end after a
// grace, in which both are valid; zero means DefaultGrace, a negative one ends it at once. The caller gives both to the
// store.
func Rotate(old *tenant.Key, grace time.Duration, creator string) (text string, next, ending *tenant.Key) {
	if grace == 0 {
		grace = DefaultGrace
	}
	now := time.Now().UTC().Truncate(time.Second)
	one, other := *old, *old
	next, ending = &one, &other
	next.Created, next.Creator, next.LastUsed = now, creator, time.Time{}
	if !old.Expires.IsZero() {
		next.Expires = now.Add(old.Expires.Sub(old.Created))
	}
	text, next.ID, next.SHA256 = tokens.New()
	if end := now.Add(max(grace, 0)); old.Expires.IsZero() || end.Before(old.Expires) {
		ending.Expires = end
	}
	return text, next, ending
}
