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
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/runtime/admission"
)

// Why a client has no Identity. The server answers the first two with HTTP 401.
var (
	ErrMissing = errors.New("no credential")
	ErrInvalid = errors.New("the credential is unknown, malformed, expired or revoked")
	// ErrPending says that another server must be asked: see [Waiter]. It is no answer for a client.
	ErrPending = errors.New("another server has to be asked about the credential")
)

// ErrDenied says that a client has an Identity that permits nothing at all. The server answers HTTP 403.
var ErrDenied = errors.New("the credential is valid, but permits nothing: ask the operator for a role")

// Anonymous is the subject of clients that an Authenticator accepts without a credential. They are many: limits for each
// client go by their addresses.
const Anonymous = "anonymous"

// A TooManyError refuses a client whose address has shown too many bad credentials. The server answers it with HTTP 429.
type TooManyError struct{ RetryAfter time.Duration }

func (*TooManyError) Error() string { return "too many bad credentials: try again later" }

// An UnavailableError says that the server cannot tell now whether a credential is good, as when the server that has issued it does
// not answer. The server answers it with HTTP 503.
type UnavailableError struct{ RetryAfter time.Duration }

func (*UnavailableError) Error() string {
	return "the credential cannot be verified now: its issuer does not answer, or too many requests wait for it: try again later"
}

// A ScopeError refuses a client whose token lacks a scope (RFC 6750 §3.1). The server answers it with HTTP 403, or with 401
// if the client has shown no credential.
type ScopeError struct {
	Scopes []string // of which each would do
}

func (e *ScopeError) Error() string {
	return "the token lacks a scope: sign in again for " + strings.Join(e.Scopes, " ")
}

// MaxAuthorization is the longest header Authorization with a token of this server, in bytes.
const MaxAuthorization = 4 << 10

// A Credential is what a client shows. Its zero value is nothing.
type Credential struct {
	Authorization string               // the header's value; empty for none
	TLS           *tls.ConnectionState // nil for a connection without TLS
	Address       netip.Addr           // of the client, or of the proxy in between; the zero Addr when it is unknown
}

// AddressOf gives the address of a client for a Credential, of the address and port of a connection; the zero Addr for another
// text.
func AddressOf(remoteAddr string) netip.Addr {
	remote, err := netip.ParseAddrPort(remoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return remote.Addr().Unmap().WithZone("")
}

// An Authenticator tells who shows a credential. It is safe for concurrent use and does not block.
type Authenticator interface {
	// Authenticate gives the Identity of c. An error is ErrMissing, ErrInvalid, a TooManyError or an UnavailableError; of a
	// [Waiter] also ErrPending. It says nothing of the credential.
	Authenticate(c Credential) (*Identity, error)
	// Challenge gives the header WWW-Authenticate of a refusal, without an error code and a scope; empty for no header. host is
	// the header Host of the request, which the client has chosen.
	Challenge(host string) string
}

// A Waiter is an Authenticator that may have to ask another server about a credential.
type Waiter interface {
	Authenticator
	// Await gives the Identity of a credential for which Authenticate has returned ErrPending, which Await does not. It
	// blocks for a few seconds at most, and no longer than until ctx ends.
	Await(ctx context.Context, c Credential) (*Identity, error)
}

// A Scoped is an Authenticator that asks clients without a credential for a token with certain scopes.
type Scoped interface {
	Scopes() []string
}

// A Caller is who sends a request over HTTP.
type Caller struct {
	Address  string    // IP address of the client, or of the proxy in between; empty when it is unknown
	Identity *Identity // nil on a server without authentication
	Key      string    // names the client for limits

	// Account bounds what the client uses; nil does not. The server has made it for Key.
	Account admission.Account

	// Version is the version of a provider that the client asks for by the header Wasmres-Version; 0 for none, and for a
	// client whose Identity may not choose.
	Version int
	// Session is the MCP session to which a subscription belongs; empty for none. Other requests have theirs in
	// resource.Request.
	Session string
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

// VersionHeader is the header by which a client asks for a version of a provider.
const VersionHeader = "Wasmres-Version"

const maxVersion = 1_000_000_000

// SetVersion sets Version to what the header asks for, if the client's Identity may choose. It ignores what is no number from
// 1 to a billion.
func (c *Caller) SetVersion(header string) {
	if header == "" || c.Identity == nil || !c.Identity.choosesVersions {
		return
	}
	if n, err := strconv.ParseUint(header, 10, 31); err == nil && n <= maxVersion {
		c.Version = int(n)
	}
}

// WithSession gives a context for a subscription of a session.
func WithSession(ctx context.Context, session string) context.Context {
	var own Caller
	if c := CallerOf(ctx); c != nil {
		own = *c
	}
	own.Session = session
	return WithCaller(ctx, &own)
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

// AccountOf gives the account of the client of a request; nil for none.
func AccountOf(ctx context.Context) admission.Account {
	if c := CallerOf(ctx); c != nil {
		return c.Account
	}
	return nil
}

// Hold holds the Identity of the client of a request, as [Identity.Hold] does. The channel is closed when it ends, and nil if there
// is none.
func Hold(ctx context.Context) (ended <-chan struct{}, release func()) {
	i := IdentityOf(ctx)
	if i == nil {
		return nil, func() {}
	}
	until, release := i.Hold()
	return until.Done(), release
}

// IdentityOf gives the Identity of the client of a request; nil for none.
func IdentityOf(ctx context.Context) *Identity {
	if c := CallerOf(ctx); c != nil {
		return c.Identity
	}
	return nil
}
