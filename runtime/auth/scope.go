package auth

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// A lacking is what an Identity could do if its token had one more scope.
type lacking struct {
	scope string
	with  *Identity
}

// NewScopedIdentity is [NewIdentity] for a client whose token has the scopes of the principal: it may do what those grants
// permit whose Scope is empty or among these. The Identity knows what the others would permit: see [Identity.Lacks].
func NewScopedIdentity(ctx context.Context, p abi.Principal, grants []Grant, expires time.Time) *Identity {
	var held []Grant
	missing := map[string][]Grant{}
	for _, g := range grants {
		if g.Scope == "" || slices.Contains(p.Scopes, g.Scope) {
			held = append(held, g)
			continue
		}
		missing[g.Scope] = append(missing[g.Scope], g)
	}
	i := NewIdentity(ctx, p, held, expires)
	for scope, grants := range missing {
		i.lacking = append(i.lacking, lacking{scope, NewIdentity(ctx, p, grants, expires)})
	}
	slices.SortFunc(i.lacking, func(a, b lacking) int { return strings.Compare(a.scope, b.scope) })
	return i
}

// LacksScopes reports whether some grants need scopes that the client's token has not.
func (i *Identity) LacksScopes() bool { return len(i.lacking) > 0 }

// LackedScopes returns all scopes that would permit more.
func (i *Identity) LackedScopes() (scopes []string) {
	for _, l := range i.lacking {
		if !l.with.PermitsNothing() {
			scopes = append(scopes, l.scope)
		}
	}
	return scopes
}

// Lacks returns the scopes of which each would permit one action with a URI, given in normal form, of the provider of that name;
// an empty name is that of no provider. It returns none if the action is permitted, or if no scope would do.
func (i *Identity) Lacks(provider string, action Action, normal string) (scopes []string) {
	if len(i.lacking) == 0 || i.PermitsAt(provider, action, normal) {
		return nil
	}
	for _, l := range i.lacking {
		if l.with.PermitsAt(provider, action, normal) {
			scopes = append(scopes, l.scope)
		}
	}
	return scopes
}

// As returns an Identity of another principal that may do what i may. It lasts until ctx ends, or until expires, if that is not
// zero. It shares what i knows of patterns.
func (i *Identity) As(ctx context.Context, p abi.Principal, expires time.Time) *Identity {
	own := *i
	own.principal, own.end = p, &ending{ctx: ctx, expires: expires}
	return &own
}
