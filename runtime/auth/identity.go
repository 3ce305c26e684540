package auth

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/pathpattern"
)

// An Identity is an authenticated client. It is immutable but for its end, and safe for concurrent use.
type Identity struct {
	principal  abi.Principal
	everywhere *access            // by grants for all providers
	byProvider map[string]*access // by grants for some
	narrow     []*pathpattern.Set // patterns of which a URI must match one of each; none does not narrow
	end        *ending

	lacking         []lacking // by scope; none for an Identity without scopes, or with all
	choosesVersions bool
}

// An ending is when an Identity ends.
type ending struct {
	ctx     context.Context
	expires time.Time // zero for never
	renewal *renewal  // moves the end, instead of expires; nil for none

	once  sync.Once
	timed context.Context // ctx until expires; made when it is first asked for, since most identities begin nothing that lasts
}

func (e *ending) context() context.Context {
	if e.expires.IsZero() {
		return e.ctx
	}
	e.once.Do(func() {
		timed, cancel := context.WithDeadline(e.ctx, e.expires)
		context.AfterFunc(timed, cancel)
		e.timed = timed
	})
	return e.timed
}

// NewIdentity makes the Identity of a principal that may do what any of the grants permits; nil permits nothing. It lasts
// until ctx ends, or until expires, if that is not zero.
func NewIdentity(ctx context.Context, p abi.Principal, grants []Grant, expires time.Time) *Identity {
	i := &Identity{principal: p, end: &ending{ctx: ctx, expires: expires}}
	i.everywhere = newAccess(grants, func(g *Grant) bool { return len(g.Providers) == 0 })
	for _, g := range grants {
		for _, name := range g.Providers {
			if i.byProvider == nil {
				i.byProvider = map[string]*access{}
			}
			if i.byProvider[name] == nil {
				i.byProvider[name] = newAccess(grants, func(g *Grant) bool { return slices.Contains(g.Providers, name) })
			}
		}
	}
	return i
}

// Narrow returns an Identity like i that permits only URIs that any of the patterns matches; nil patterns permit nothing.
func (i *Identity) Narrow(uris []Pattern) *Identity {
	own := *i
	own.narrow = append(slices.Clip(i.narrow), pathpattern.NewSet(appendCompiled(nil, uris)))
	return &own
}

// ChoosingVersions returns an Identity like i whose client may choose, by [VersionHeader], which version of a provider answers.
func (i *Identity) ChoosingVersions() *Identity {
	own := *i
	own.choosesVersions = true
	return &own
}

// Principal says who the client is, for providers. It is not to be changed.
func (i *Identity) Principal() *abi.Principal { return &i.principal }

// Hold is for what is begun for the Identity and lasts, as a stream of changes: it must end when the context ends, which is when
// the Identity does. The caller calls release once, when it needs the Identity no more: until then, an Identity that can be
// renewed is.
func (i *Identity) Hold() (ended context.Context, release func()) {
	if r := i.end.renewal; r != nil {
		return r.hold(), r.release
	}
	return i.end.context(), func() {}
}

// Valid reports whether the Identity has not ended.
func (i *Identity) Valid() bool {
	expires := i.end.expires
	if r := i.end.renewal; r != nil {
		expires = r.ends()
	}
	return i.end.ctx.Err() == nil && (expires.IsZero() || time.Now().Before(expires))
}

// PermitsNothing reports whether no action is permitted on any URI.
func (i *Identity) PermitsNothing() bool {
	for _, m := range i.narrow {
		if m.IsEmpty() {
			return true
		}
	}
	if !i.everywhere.isEmpty() {
		return false
	}
	for _, a := range i.byProvider {
		if !a.isEmpty() {
			return false
		}
	}
	return true
}

// PermitsAll reports whether the client may do one action with every URI of every provider.
func (i *Identity) PermitsAll(action Action) bool {
	if !i.everywhere.of(action).MatchesAll() {
		return false
	}
	return !slices.ContainsFunc(i.narrow, func(m *pathpattern.Set) bool { return !m.MatchesAll() })
}

// Permits reports whether the client may do one action with a URI, given in normal form, whatever provider it belongs to.
func (i *Identity) Permits(action Action, normal string) bool {
	return i.everywhere.of(action).Match(normal) && i.isWithin(normal)
}

// PermitsAt is Permits for a URI that belongs to the provider of that name.
func (i *Identity) PermitsAt(provider string, action Action, normal string) bool {
	if i.Permits(action, normal) {
		return true
	}
	a := i.byProvider[provider]
	return a != nil && a.of(action).Match(normal) && i.isWithin(normal)
}

// MayPermit reports whether the client may do one action with some URI that begins with head, which is in normal form, of
// any provider. It may report true where there is none.
func (i *Identity) MayPermit(action Action, head string) bool {
	if i.everywhere.of(action).MayMatch(head) {
		return i.mayBeWithin(head)
	}
	for _, a := range i.byProvider {
		if a.of(action).MayMatch(head) {
			return i.mayBeWithin(head)
		}
	}
	return false
}

// MayPermitAt is MayPermit for URIs that belong to the provider of that name.
func (i *Identity) MayPermitAt(provider string, action Action, head string) bool {
	a := i.byProvider[provider]
	may := i.everywhere.of(action).MayMatch(head) || a != nil && a.of(action).MayMatch(head)
	return may && i.mayBeWithin(head)
}

// DependsOnProvider reports whether some grants are for some providers only: then PermitsAt may permit what Permits does
// not.
func (i *Identity) DependsOnProvider() bool { return len(i.byProvider) > 0 }

// isWithin reports whether a URI is one of those to which Narrow restricts the client.
func (i *Identity) isWithin(normal string) bool {
	for at := range i.narrow {
		if !i.narrow[at].Match(normal) {
			return false
		}
	}
	return true
}

func (i *Identity) mayBeWithin(head string) bool {
	for at := range i.narrow {
		if !i.narrow[at].MayMatch(head) {
			return false
		}
	}
	return true
}
