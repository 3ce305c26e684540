// Package auth says who sends a request over HTTP, and which resources that client may see.
//
// An [Authenticator] makes an [Identity] of what a client shows: a bearer token, as package tokens does, or a certificate,
// as [Certificates] does. The server asks it once for each credential on a connection. It puts a [Caller] into the context
// of each request, and hides from the client what its Identity does not permit.
package auth

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/pathpattern"
)

// Why a client has no Identity. The server answers both with HTTP 401.
var (
	ErrMissing = errors.New("no credential")
	ErrInvalid = errors.New("the credential is unknown, malformed, expired or revoked")
)

// MaxAuthorization is the longest header Authorization that an Authenticator gets, in bytes.
const MaxAuthorization = 4 << 10

// A Credential is what a client shows. Its zero value is nothing.
type Credential struct {
	Authorization string               // the header's value; empty for none
	TLS           *tls.ConnectionState // nil for a connection without TLS
	Address       netip.Addr           // of the client, or of the proxy in between; the zero Addr when it is unknown
}

// An Authenticator tells who shows a credential. It is safe for concurrent use and does not block.
type Authenticator interface {
	// Authenticate gives the Identity of c. An error is ErrMissing or ErrInvalid; it says nothing of the credential.
	Authenticate(c Credential) (*Identity, error)
	// Challenge gives the header WWW-Authenticate of a refusal, without an error code; empty for no header.
	Challenge() string
}

// A Pattern says which URIs an Identity may see: see [ParsePattern].
type Pattern struct{ compiled *pathpattern.Pattern }

// MaxPattern is the longest pattern, in bytes.
const MaxPattern = abi.MaxURI

// ParsePattern reads a pattern of URIs, as notes://drafts/**. It is written as the paths of policies are: a pattern without
// "*" permits the URI and all URIs below it; otherwise "*" stands for any part of a segment, "**" also for slashes, and the
// whole URI must match. Characters beyond ASCII, and escapes, are compared in the normal form of URIs.
func ParsePattern(s string) (Pattern, error) {
	switch {
	case s == "":
		return Pattern{}, errors.New("the pattern is empty: ** permits all URIs")
	case len(s) > MaxPattern:
		return Pattern{}, fmt.Errorf("the pattern has %d bytes, at most %d are allowed", len(s), MaxPattern)
	}
	for _, c := range []byte(s) {
		if c <= ' ' || c == 0x7f {
			return Pattern{}, fmt.Errorf("the pattern %.100q has a space or a control character", s)
		}
	}
	compiled, err := pathpattern.Compile(abi.NormalURI(s))
	if err != nil {
		return Pattern{}, fmt.Errorf("the pattern %.100q is not UTF-8", s)
	}
	return Pattern{compiled}, nil
}

// An Identity is an authenticated client. It is immutable but for its end, and safe for concurrent use.
type Identity struct {
	principal abi.Principal
	uris      []Pattern
	all       bool
	expires   time.Time // zero for never
	ctx       context.Context
}

// NewIdentity makes the Identity of a principal that may see the URIs of any of the patterns; nil permits all. It lasts
// until ctx ends, or until expires, if that is not zero.
func NewIdentity(ctx context.Context, p abi.Principal, uris []Pattern, expires time.Time) *Identity {
	i := &Identity{principal: p, uris: slices.Clone(uris), all: uris == nil, expires: expires, ctx: ctx}
	for _, one := range uris {
		i.all = i.all || one.compiled.String() == "**"
	}
	return i
}

// Principal says who the client is, for providers. It is not to be changed.
func (i *Identity) Principal() *abi.Principal { return &i.principal }

// Context ends when the Identity does. What was begun for it and lasts, as a stream of changes, must end then, too.
func (i *Identity) Context() context.Context { return i.ctx }

// Valid reports whether the Identity has not ended.
func (i *Identity) Valid() bool {
	return i.ctx.Err() == nil && (i.expires.IsZero() || time.Now().Before(i.expires))
}

// PermitsAll reports whether the client may see every URI.
func (i *Identity) PermitsAll() bool { return i.all }

// Permits reports whether the client may see a URI, given in normal form.
func (i *Identity) Permits(normal string) bool {
	return i.all || slices.ContainsFunc(i.uris, func(p Pattern) bool { return p.compiled.Match(normal) })
}

// MayPermit reports whether the client may see some URI that begins with head, which is in normal form. It may report true
// where there is none.
func (i *Identity) MayPermit(head string) bool {
	return i.all || slices.ContainsFunc(i.uris, func(p Pattern) bool { return p.compiled.MayMatch(head) })
}

// A Caller is who sends a request over HTTP.
type Caller struct {
	Address  string    // IP address of the client, or of the proxy in between; empty when it is unknown
	Identity *Identity // nil on a server without authentication
	Key      string    // names the client for limits
}

// Valid reports whether the client's Identity, if it has one, has not ended.
func (c *Caller) Valid() bool { return c.Identity == nil || c.Identity.Valid() }

// Name gives the subject of the client's principal; empty for none.
func (c *Caller) Name() string {
	if c == nil || c.Identity == nil {
		return ""
	}
	return c.Identity.principal.Subject
}

type callerKey struct{}

// WithCaller gives a context for the requests of c.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf gives the Caller of a request; nil for none.
func CallerOf(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}

// Done gives a channel that is closed when the Identity of the client of a request ends; nil if there is none.
func Done(ctx context.Context) <-chan struct{} {
	if i := IdentityOf(ctx); i != nil {
		return i.ctx.Done()
	}
	return nil
}

// IdentityOf gives the Identity of the client of a request; nil for none.
func IdentityOf(ctx context.Context) *Identity {
	if c := CallerOf(ctx); c != nil {
		return c.Identity
	}
	return nil
}
