package bearer

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/oauth"
	"github.com/wasmres/wasmres/internal/tokenbucket"
	"github.com/wasmres/wasmres/runtime/auth"
)

// keyPrefix begins API keys.
const keyPrefix = "wr_"

// retryAfter is when clients ask again that could not be verified.
const retryAfter = 2 * time.Second

// suspectRate is how many tokens are verified of all addresses together that have sent many bad ones: verifying takes some
// 50 µs, and honest clients may share the address.
var suspectRate = tokenbucket.New(100, 100)

// An authenticator is that of one tenant.
type authenticator struct {
	set    *Set
	tenant string
	keys   auth.Authenticator
}

// Challenge implements [auth.Authenticator]. It names the metadata of the endpoint at the host, if that is one of the tenant's.
func (a *authenticator) Challenge(host string) string {
	challenge := a.keys.Challenge(host)
	c := a.set.of(a.tenant)
	if c == nil {
		return challenge
	}
	name := strings.ToLower(host)
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, ']') {
		name = name[:colon]
	}
	resource := c.resource(name)
	if resource == "" {
		resource = c.resource("")
	}
	return challenge + `, resource_metadata="` + oauth.MetadataURL(resource) + `"`
}

// Scopes implements [auth.Scoped].
func (a *authenticator) Scopes() []string {
	if c := a.set.of(a.tenant); c != nil {
		return c.of.SignInScopes()
	}
	return nil
}

// Authenticate implements [auth.Authenticator]. Of a token that was not verified before, it checks the signature, if that
// takes no request to the issuer.
func (a *authenticator) Authenticate(c auth.Credential) (*auth.Identity, error) {
	return a.authenticate(c, func(clients *clients, token string) (*known, error) { return a.check(clients, token) })
}

// Await implements [auth.Waiter].
func (a *authenticator) Await(ctx context.Context, c auth.Credential) (*auth.Identity, error) {
	return a.authenticate(c, func(clients *clients, token string) (*known, error) { return a.ask(ctx, clients, token) })
}

// authenticate authenticates a client, by its key or by its token, which verify verifies if it is not known.
func (a *authenticator) authenticate(c auth.Credential, verify func(*clients, string) (*known, error)) (*auth.Identity, error) {
	token, ok := tokenOf(c.Authorization)
	if !ok || a.set.of(a.tenant) == nil {
		return a.keys.Authenticate(c)
	}
	identity, err := a.byToken(token, c, verify)
	if err != auth.ErrPending {
		a.set.cfg.Decided(err)
	}
	return identity, err
}

// byToken authenticates a client by its token.
func (a *authenticator) byToken(token string, c auth.Credential, verify func(*clients, string) (*known, error)) (*auth.Identity, error) {
	id := sum(sha256.Sum256([]byte(token)))
	for {
		now := a.set.of(a.tenant)
		if now == nil {
			return nil, a.set.cfg.Keys.Refuse(a.tenant, c)
		}
		if k, ok := now.known.Get(id); ok && k.identity.Valid() {
			return a.bound(k, c)
		}
		if err := a.mayVerify(now, id, c); err != nil {
			return nil, err
		}
		k, err := verify(now, token)
		var invalid *oauth.InvalidError
		switch {
		case errors.As(err, &invalid):
			return nil, a.refuse(now, id, c, invalid)
		case errors.Is(err, oauth.ErrPending):
			return nil, auth.ErrPending
		case err != nil:
			return nil, &auth.UnavailableError{RetryAfter: retryAfter}
		}
		if now.ctx.Err() == nil {
			now.known.Put(id, k)
			return a.bound(k, c)
		}
	}
}

// bound returns the identity of a token for a client that shows the certificate to which it is bound, if it is.
func (a *authenticator) bound(k *known, c auth.Credential) (*auth.Identity, error) {
	if k.thumbprint == "" {
		return k.identity, nil
	}
	shown := ""
	if c.TLS != nil && len(c.TLS.PeerCertificates) > 0 {
		digest := sha256.Sum256(c.TLS.PeerCertificates[0].Raw)
		shown = base64.RawURLEncoding.EncodeToString(digest[:])
	}
	if subtle.ConstantTimeCompare([]byte(shown), []byte(k.thumbprint)) != 1 {
		a.set.log.Warn("token", "token refused", "tenant", a.tenant, "client", c.Address, "reason", "it is bound to a certificate that the client has not shown")
		return nil, a.set.cfg.Keys.Refuse(a.tenant, c)
	}
	return k.identity, nil
}

// mayVerify refuses to verify a token that was refused just before, or of an address that has sent many bad ones.
func (a *authenticator) mayVerify(now *clients, id sum, c auth.Credential) error {
	if until, ok := now.refused.Get(id); ok && time.Now().Before(until) {
		return a.set.cfg.Keys.Refuse(a.tenant, c)
	}
	wait, isSuspect := a.set.cfg.Keys.IsSuspect(a.tenant, c)
	if !isSuspect {
		return nil
	}
	if _, ok := a.set.suspects.Take(int64(time.Since(a.set.began)), 1, suspectRate); !ok {
		return &auth.TooManyError{RetryAfter: wait}
	}
	return nil
}

// refuse refuses a token, and remembers it for a while.
func (a *authenticator) refuse(now *clients, id sum, c auth.Credential, why *oauth.InvalidError) error {
	if !oauth.MayBecomeValid(why) {
		now.refused.Put(id, time.Now().Add(refusedTime))
	}
	a.set.log.Warn("token", "token refused", "tenant", a.tenant, "client", c.Address, "reason", why.Reason)
	return a.set.cfg.Keys.Refuse(a.tenant, c)
}

// tokenOf returns the token of a header Authorization that may be one of an issuer (RFC 6750 §2.1); ok is false for an API key, and for
// anything else.
func tokenOf(header string) (token string, ok bool) {
	scheme, token, found := strings.Cut(header, " ")
	token = strings.Trim(token, " ")
	if !found || !strings.EqualFold(scheme, "bearer") || token == "" || len(token) > oauth.MaxToken || strings.HasPrefix(token, keyPrefix) {
		return "", false
	}
	for _, c := range []byte(strings.TrimRight(token, "=")) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
		if !letter && strings.IndexByte("-._~+/", c) < 0 {
			return "", false
		}
	}
	return token, true
}

// check verifies a token without asking its issuer. An error is that of [oauth.Verifier.Check].
func (a *authenticator) check(now *clients, token string) (*known, error) {
	t, err := oauth.Parse(token)
	switch {
	case err == nil:
		return a.verify(now, t, a.set.cfg.Verifier.Check)
	case oauth.IsJWT(token):
		return nil, err
	case now.opaque == nil:
		return nil, errOpaque
	}
	return nil, oauth.ErrPending
}

var errOpaque = &oauth.InvalidError{Reason: "it is no JSON Web Token, and no issuer is asked about opaque ones"}

// verify verifies a JSON Web Token by a function.
func (a *authenticator) verify(
	now *clients, t *oauth.Token, by func(*oauth.Token, *oauth.Issuer, []string) (*oauth.Claims, error),
) (*known, error) {
	issuer := now.issuers[t.Issuer]
	if issuer == nil {
		return nil, &oauth.InvalidError{Reason: "its issuer is none of the tenant's"}
	}
	claims, err := by(t, issuer, now.resources)
	if err != nil {
		return nil, err
	}
	return now.identify(claims, claims.Ends(), nil)
}

var errTooManyWait = errors.New("too many requests wait for issuers")

// ask verifies a token, and waits for its issuer. Of several requests with one token, one asks. An error is that of
// [oauth.Verifier.Wait].
func (a *authenticator) ask(ctx context.Context, now *clients, token string) (*known, error) {
	ctx, cancel := context.WithTimeout(ctx, oauth.MaxWait)
	defer cancel()
	select {
	case now.waiting <- struct{}{}:
		defer func() { <-now.waiting }()
	default:
		return nil, errTooManyWait
	}
	id := sum(sha256.Sum256([]byte(token)))
	for {
		done, isFirst := now.begin(id)
		if isFirst {
			defer now.finish(id, done)
			if k, err := now.remembered(id); k != nil || err != nil { // of a request that ended since the caller looked
				return k, err
			}
			return a.askFirst(ctx, now, token)
		}
		select {
		case <-done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if k, err := now.remembered(id); k != nil || err != nil {
			return k, err
		}
	}
}

// remembered returns what is known of a token: an error if it was refused just before, and neither if its issuer is to be asked.
func (c *clients) remembered(id sum) (*known, error) {
	if k, ok := c.known.Get(id); ok && k.identity.Valid() && (k.until.IsZero() || time.Now().Before(k.until)) {
		return k, nil
	}
	if until, ok := c.refused.Get(id); ok && time.Now().Before(until) {
		return nil, &oauth.InvalidError{Reason: "it was refused just before"}
	}
	return nil, nil
}

// askFirst asks the issuer, and remembers the answer before others that wait for it go on.
func (a *authenticator) askFirst(ctx context.Context, now *clients, token string) (k *known, err error) {
	id := sum(sha256.Sum256([]byte(token)))
	var parsed *oauth.Token
	if parsed, err = oauth.Parse(token); err == nil {
		k, err = a.verify(now, parsed, func(t *oauth.Token, i *oauth.Issuer, resources []string) (*oauth.Claims, error) {
			return a.set.cfg.Verifier.Wait(ctx, t, i, resources)
		})
	} else if !oauth.IsJWT(token) {
		k, err = a.introspect(ctx, now, token)
	}
	var invalid *oauth.InvalidError
	switch {
	case err == nil:
		now.known.Put(id, k)
	case errors.As(err, &invalid) && !oauth.MayBecomeValid(invalid):
		now.refused.Put(id, time.Now().Add(refusedTime))
	}
	return k, err
}

func (a *authenticator) introspect(ctx context.Context, now *clients, token string) (*known, error) {
	if now.opaque == nil {
		return nil, errOpaque
	}
	claims, err := a.set.cfg.Verifier.Introspect(ctx, token, now.opaque, now.resources)
	if err != nil {
		return nil, err
	}
	until := time.Now().Add(opaqueTime)
	if ends := claims.Ends(); !ends.IsZero() && ends.Before(until) {
		until = ends
	}
	var k *known
	k, err = now.identify(claims, until, func(ctx context.Context) (time.Time, error) { return a.renew(ctx, token, k) })
	return k, err
}

// renew says until when an opaque token is good, which was known with these rights. It asks the issuer, unless a request has just
// done so. An error is as [auth.Renew] has it.
func (a *authenticator) renew(ctx context.Context, token string, before *known) (time.Time, error) {
	now := a.set.of(a.tenant)
	if now == nil {
		return time.Time{}, auth.ErrInvalid
	}
	k, ok := now.known.Get(sum(sha256.Sum256([]byte(token))))
	if !ok || !k.identity.Valid() || !time.Now().Before(k.until) {
		var err error
		var invalid *oauth.InvalidError
		switch k, err = a.ask(ctx, now, token); {
		case errors.As(err, &invalid):
			return time.Time{}, auth.ErrInvalid
		case err != nil:
			return time.Time{}, &auth.UnavailableError{RetryAfter: retryAfter}
		}
	}
	if k.rights != before.rights || k.thumbprint != before.thumbprint || !reflect.DeepEqual(k.identity.Principal(), before.identity.Principal()) {
		return time.Time{}, auth.ErrInvalid // it is good for something else: the client begins again
	}
	return k.until, nil
}

// begin notes that an issuer is asked about a token. isFirst is false if that is so already; then done says when it has answered.
func (c *clients) begin(id sum) (done chan struct{}, isFirst bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if done := c.asking[id]; done != nil {
		return done, false
	}
	done = make(chan struct{})
	c.asking[id] = done
	return done, true
}

func (c *clients) finish(id sum, done chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asking, id)
	close(done)
}
