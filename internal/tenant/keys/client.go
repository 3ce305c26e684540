package keys

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/auth"
)

// A client has the Identity of one key, which is made when the key is first used.
type client struct {
	mu       sync.Mutex
	identity *auth.Identity // nil before the first use
	cancel   context.CancelFunc
	ended    bool

	usedOn atomic.Int64 // the last day, in days since 1970, that uses has noted
}

// get gives the Identity; nil after the end.
func (c *client) get(make func(context.Context) *auth.Identity) *auth.Identity {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return nil
	}
	if c.identity == nil {
		var ctx context.Context
		ctx, c.cancel = context.WithCancel(context.Background())
		c.identity = make(ctx)
	}
	return c.identity
}

// end ends the Identity, for good.
func (c *client) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended = true; c.cancel != nil {
		c.cancel()
	}
	c.identity = nil
}

func (c *client) hasEnded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// An access is what the roles of a tenant permit.
type access struct {
	of        *tenant.Tenant
	anonymous *client

	mu     sync.Mutex
	grants map[string][]auth.Grant // by the roles that were asked for
}

// newAccess makes the access to a tenant. was is that to its state before; nil for none.
func newAccess(t *tenant.Tenant, was *access) *access {
	a := &access{of: t, anonymous: &client{}, grants: map[string][]auth.Grant{}}
	if was != nil && slices.Equal(was.of.Anonymous, t.Anonymous) && IsSameRoles(t.Anonymous, was.of, t) {
		a.anonymous = was.anonymous
	}
	return a
}

// permits gives the grants of roles. Those that do not exist permit nothing.
func (a *access) permits(names []string) []auth.Grant {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []auth.Grant
	for _, name := range names {
		grants, known := a.grants[name]
		if !known {
			grants = grantsOf(roleOf(a.of, name))
			a.grants[name] = grants
		}
		all = append(all, grants...)
	}
	return all
}

// Grants gives the grants of roles of a tenant, by their names. Those that do not exist permit nothing.
func Grants(t *tenant.Tenant, names []string) (all []auth.Grant) {
	for _, name := range names {
		all = append(all, grantsOf(roleOf(t, name))...)
	}
	return all
}

// grantsOf gives the grants of a role. What it says wrongly permits nothing: rules were checked when the tenant was read.
func grantsOf(r *tenant.Role) []auth.Grant {
	if r == nil {
		return nil
	}
	var grants []auth.Grant
	for i := range r.Rules {
		rule := &r.Rules[i]
		g := auth.Grant{URIs: patternsOf(rule.URIs), Providers: rule.Providers, Scope: rule.Scope}
		for _, name := range rule.Actions {
			action, _ := auth.ParseAction(name) // none for an error
			g.Actions |= action
		}
		grants = append(grants, g)
	}
	return grants
}

func patternsOf(texts []string) []auth.Pattern {
	var all []auth.Pattern
	for _, text := range texts {
		if p, err := auth.ParsePattern(text); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// makeAnonymous makes the Identity of clients that show nothing: they have no scope.
func (a *access) makeAnonymous(ctx context.Context) *auth.Identity {
	return auth.NewScopedIdentity(ctx, abi.Principal{Subject: auth.Anonymous}, a.permits(a.of.Anonymous), time.Time{})
}

// makeIdentity makes the Identity of a key. Its end is that of ctx, since the end of a key may be moved.
func (e *entry) makeIdentity(ctx context.Context) *auth.Identity {
	i := auth.NewIdentity(ctx, abi.Principal{Subject: e.key.Name}, e.access.permits(e.key.Roles), time.Time{})
	if len(e.key.URIs) > 0 {
		i = i.Narrow(patternsOf(e.key.URIs))
	}
	if slices.Contains(e.key.Roles, tenant.RoleCanary) {
		i = i.ChoosingVersions()
	}
	return i
}
