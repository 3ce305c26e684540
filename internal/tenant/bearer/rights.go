package bearer

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/oauth"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/keys"
	"github.com/wasmres/wasmres/runtime/auth"
)

// rights are what tokens may do that one issuer has issued for the same endpoints, with the same roles and scopes.
type rights struct {
	// fixed at creation
	issuer    string   // its URL
	roles     []string // names, sorted
	resources []string // endpoints of the tenant that the tokens are for; none if they are for an audience of the issuer
	identity  *auth.Identity

	ctx context.Context // until a change of the tenant touches them
	end context.CancelFunc
}

// rightsOf returns those that claims give.
func (c *clients) rightsOf(claims *oauth.Claims) *rights {
	roles, resources := c.rolesOf(claims), c.resourcesOf(claims)
	var held []string
	for _, name := range roles {
		for _, scope := range c.scopes[name] {
			if slices.Contains(claims.Scopes, scope) {
				held = append(held, scope)
			}
		}
	}
	slices.Sort(held)
	held = slices.Compact(held)
	key := strings.Join([]string{claims.Issuer, strings.Join(roles, ","), strings.Join(held, " "), strings.Join(resources, " ")}, "\n")
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.rights[key]; r != nil {
		return r
	}
	if r, ok := c.moreRights.Get(key); ok {
		return r
	}
	r := &rights{issuer: claims.Issuer, roles: roles, resources: resources, ctx: c.ctx, end: func() {}}
	isKept := !c.isReplaced && len(c.rights) < maxRights
	if isKept {
		r.ctx, r.end = context.WithCancel(context.Background())
	}
	r.identity = auth.NewScopedIdentity(r.ctx, abi.Principal{Scopes: held}, keys.Grants(c.of, roles), time.Time{})
	if slices.Contains(roles, tenant.RoleCanary) {
		r.identity = r.identity.ChoosingVersions()
	}
	if isKept {
		c.rights[key] = r
	} else {
		c.moreRights.Put(key, r)
	}
	return r
}

// resourcesOf returns the endpoints that a token is for, sorted; none if it is for an audience of its issuer.
func (c *clients) resourcesOf(claims *oauth.Claims) (found []string) {
	if slices.ContainsFunc(claims.Audience, func(a string) bool { return slices.Contains(c.issuers[claims.Issuer].Audiences, a) }) {
		return nil
	}
	for _, r := range c.resources {
		if slices.Contains(claims.Audience, r) {
			found = append(found, r)
		}
	}
	slices.Sort(found)
	return found
}

// inherit takes over the tokens of the state before of a tenant, and the rights that a change has not touched. The old state
// gets no more of these.
func (c *clients) inherit(old *clients) {
	old.mu.Lock()
	defer old.mu.Unlock()
	old.isReplaced = true
	c.known = old.known // those with other rights have ended when the change is in force
	for key, r := range old.rights {
		if c.leaves(r, old) {
			c.rights[key] = r
		}
	}
}

// leaves reports whether rights of an old state of a tenant are the same in this one.
func (c *clients) leaves(r *rights, old *clients) bool {
	isHere := func(resource string) bool { return slices.Contains(c.resources, resource) }
	return c.of.Owner == old.of.Owner && reflect.DeepEqual(c.roles[r.issuer], old.roles[r.issuer]) && keys.IsSameRoles(r.roles, old.of, c.of) &&
		(len(r.resources) == 0 || slices.ContainsFunc(r.resources, isHere))
}

// endBut ends all rights, but those that the next state has; nil has none.
func (c *clients) endBut(next *clients) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isReplaced = true
	c.end()
	for key, r := range c.rights {
		if next == nil || !next.has(key, r) {
			r.end()
		}
	}
}

func (c *clients) has(key string, r *rights) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rights[key] == r
}
