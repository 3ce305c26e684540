package oauth

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// MaxToken is the longest token, in bytes.
	MaxToken  = 16 << 10
	maxClaims = 200
	maxText   = 1 << 10 // bytes of a subject, an audience or an ID
	maxList   = 100     // audiences, and scopes
	leeway    = 30 * time.Second
)

// algorithms are those by which tokens may be signed. None is symmetric.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.PS256, jose.ES256, jose.EdDSA}

// An InvalidError says why a token is refused. It has nothing of the token that is secret.
type InvalidError struct{ Reason string }

func (e *InvalidError) Error() string { return "invalid token: " + e.Reason }

func invalid(format string, args ...any) error { return &InvalidError{fmt.Sprintf(format, args...)} }

// Claims are what a token says of its client. All of it is verified where a [Verifier] has returned it.
type Claims struct {
	Issuer   string
	Subject  string
	Audience []string
	Scopes   []string
	Expires  time.Time
	// Thumbprint is the SHA-256 of the certificate that the client must show by TLS, in base64url; empty for none.
	Thumbprint string

	notBefore, issued time.Time
	raw               members
}

// A Token is a JSON Web Token that was parsed, and nothing of which is verified.
type Token struct {
	Claims
	compact   compact
	algorithm jose.SignatureAlgorithm
	keyID     string
	kind      string // the header typ, in lower case and without application/
}

// IsJWT reports whether a token has the form of a JSON Web Token that is signed. Others are opaque.
func IsJWT(token string) bool {
	head, rest, found := strings.Cut(token, ".")
	if !found || strings.Count(rest, ".") != 1 || strings.HasPrefix(rest, ".") {
		return false
	}
	text, err := base64.RawURLEncoding.DecodeString(head)
	return err == nil && json.Valid(text) && text[0] == '{'
}

// Parse parses a JSON Web Token. An error is an [InvalidError].
func Parse(token string) (*Token, error) {
	if len(token) > MaxToken {
		return nil, invalid("it is longer than %d bytes", MaxToken)
	}
	c, ok := parseCompact(token)
	if !ok {
		return nil, errNoToken
	}
	t := &Token{compact: c}
	if err := t.readHeader(); err != nil {
		return nil, err
	}
	if err := t.Claims.parse(c.payload); err != nil {
		return nil, err
	}
	return t, nil
}

var errNoToken = &InvalidError{"it is no JSON Web Token that is signed by RS256, PS256, ES256 or EdDSA"}

// readHeader reads what is used of the header. It refuses what would change its meaning: the payload is in base64 (RFC 7797), and there is
// no extension that a server must understand (RFC 7515 §4.1.11). Keys in the header have no effect.
func (t *Token) readHeader() error {
	h := t.compact.header
	algorithm, isText := h.text("alg")
	keyID, isID := h.text("kid")
	kind, isKind := h.text("typ")
	t.algorithm, t.keyID, t.kind = jose.SignatureAlgorithm(algorithm), keyID, kindOf(kind)
	if !isText || !isID || !isKind || !slices.Contains(algorithms, t.algorithm) || h.get("crit") != nil || h.get("b64") != nil {
		return errNoToken
	}
	if cty := h.get("cty"); cty != nil {
		return invalid("the header cty is %.32q: a token within a token is not accepted", string(cty))
	}
	return nil
}

// kindOf returns a media type in lower case and without application/.
func kindOf(typ string) string { return strings.TrimPrefix(strings.ToLower(typ), "application/") }

// parse reads the claims of a token, or what an issuer says of an opaque one.
func (c *Claims) parse(text []byte) error {
	var ok bool
	if c.raw, ok = membersOf(text); !ok {
		return invalid("its claims are no JSON object")
	}
	if len(c.raw) > maxClaims {
		return invalid("it has %d claims: at most %d are allowed", len(c.raw), maxClaims)
	}
	var scope, scp []string
	return errors.Join(
		c.text("iss", &c.Issuer), c.text("sub", &c.Subject), c.list("aud", false, &c.Audience),
		c.time("exp", &c.Expires), c.time("nbf", &c.notBefore), c.time("iat", &c.issued),
		c.list("scope", true, &scope), c.list("scp", true, &scp), c.setScopes(&scope, &scp), c.confirmation(),
	)
}

// setScopes takes the scopes of the claim scope (RFC 8693) or, where there is none, of scp, as Entra and Okta have it.
func (c *Claims) setScopes(scope, scp *[]string) error {
	c.Scopes = *scope
	if c.raw.get("scope") == nil {
		c.Scopes = *scp
	}
	return nil
}

// text reads a claim that is a string.
func (c *Claims) text(name string, to *string) error {
	text, ok := c.raw.text(name)
	if !ok || len(text) > maxText {
		return invalid("the claim %s is no string of at most %d bytes", name, maxText)
	}
	*to = text
	return nil
}

// list reads a claim that is a string or a list of strings. A string is one value, or several with spaces between them.
func (c *Claims) list(name string, spaced bool, to *[]string) error {
	raw := c.raw.get(name)
	if raw == nil {
		return nil
	}
	values, ok := stringsOf(raw, spaced)
	if !ok || len(values) > maxList || slices.ContainsFunc(values, func(v string) bool { return len(v) > maxText }) {
		return invalid("the claim %s is no string, or list of at most %d strings", name, maxList)
	}
	*to = values
	return nil
}

func stringsOf(raw json.RawMessage, spaced bool) (values []string, ok bool) {
	if len(raw) > 0 && raw[0] == '[' {
		if json.Unmarshal(raw, &values) != nil {
			return nil, false
		}
		return values, true
	}
	one, ok := bytesOf(raw)
	switch {
	case !ok:
		return nil, false
	case spaced:
		return strings.Fields(string(one)), true
	}
	return []string{string(one)}, true
}

// time reads a claim that is a number of seconds since 1970.
func (c *Claims) time(name string, to *time.Time) error {
	raw := c.raw.get(name)
	if raw == nil {
		return nil
	}
	const latest = 253402300799                         // the end of the year 9999
	seconds, err := strconv.ParseFloat(string(raw), 64) // which accepts no other JSON value than a number
	if err != nil || !(seconds >= 0 && seconds <= latest) {
		return invalid("the claim %s is no time", name)
	}
	whole, part := math.Modf(seconds)
	*to = time.Unix(int64(whole), int64(part*1e9))
	return nil
}

// confirmation reads the claim cnf: the certificate to which the token is bound (RFC 8705 §3.1).
func (c *Claims) confirmation() error {
	raw := c.raw.get("cnf")
	if raw == nil {
		return nil
	}
	var methods map[string]json.RawMessage
	if json.Unmarshal(raw, &methods) != nil || len(methods) != 1 || methods["x5t#S256"] == nil {
		return invalid("it is bound to a key by another method than x5t#S256: proof of possession by DPoP is not spoken")
	}
	if json.Unmarshal(methods["x5t#S256"], &c.Thumbprint) != nil || len(c.Thumbprint) != 43 {
		return invalid("its x5t#S256 is no SHA-256 in base64url")
	}
	return nil
}

// Ends returns when the token ends, with the leeway for clocks that differ; the zero time for one that does not say.
func (c *Claims) Ends() time.Time {
	if c.Expires.IsZero() {
		return time.Time{}
	}
	return c.Expires.Add(leeway)
}

// Values returns the strings of a claim: those of a list, or of a text with spaces between them. path is the name of the claim,
// or names of claims within each other with dots between them, as realm_access.roles. It returns none for any other claim.
func (c *Claims) Values(path string) []string {
	raw := c.raw.get(path)
	if raw == nil {
		within := c.raw
		names := strings.Split(path, ".")
		for _, name := range names[:len(names)-1] {
			var ok bool
			if within, ok = membersOf(within.get(name)); !ok {
				return nil
			}
		}
		raw = within.get(names[len(names)-1])
	}
	values, _ := stringsOf(raw, true)
	return values
}

// checkTimes checks when the token is valid.
func (c *Claims) checkTimes(now time.Time) error {
	switch {
	case !c.Expires.IsZero() && !now.Before(c.Expires.Add(leeway)):
		return invalid("it expired at %s", c.Expires.UTC().Format(time.RFC3339))
	case c.notBefore.After(now.Add(leeway)):
		return invalid("it is not valid before %s", c.notBefore.UTC().Format(time.RFC3339))
	case c.issued.After(now.Add(leeway)):
		return invalid("it was issued in the future, at %s", c.issued.UTC().Format(time.RFC3339))
	}
	return nil
}

// checkAudience checks that the token is for one of these.
func (c *Claims) checkAudience(audiences, others []string) error {
	for _, a := range c.Audience {
		if slices.Contains(audiences, a) || slices.Contains(others, a) {
			return nil
		}
	}
	return invalid("its audience is %.200q, not %.200q", c.Audience, slices.Concat(audiences, others))
}

// idClaims are claims that ID tokens have (OpenID Connect Core §2, §3.3.2.11), and access tokens have not.
var idClaims = []string{"nonce", "at_hash", "c_hash", "s_hash", "sid_hash"}

// checkKind refuses what is no access token (RFC 9068 §4). The types are in lower case.
func (t *Token) checkKind(types []string) error {
	if !slices.Contains(types, t.kind) {
		return invalid("its header typ is %.64q, not %q", t.kind, types)
	}
	for _, name := range idClaims {
		if t.raw.get(name) != nil {
			return invalid("it has the claim %s: it is an ID token, not an access token", name)
		}
	}
	kind, _ := t.raw.text("typ") // Keycloak says in a claim what a token is for
	if kind != "" && !strings.EqualFold(kind, "bearer") {
		return invalid("its claim typ is %.32q: it is no access token", kind)
	}
	return nil
}
