package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/authtest"
	"github.com/wasmres/wasmres/internal/oauth"
)

const resource = "https://mcp.example/t/acme/mcp"

func newVerifier(tb testing.TB) *oauth.Verifier {
	tb.Helper()
	v := oauth.New(oauth.Config{})
	tb.Cleanup(func() { v.Close() })
	return v
}

// of returns an issuer as a resource server trusts it.
func of(i *authtest.Issuer) *oauth.Issuer { return &oauth.Issuer{URL: i.URL, Insecure: true} }

// verify verifies a token for the resource.
func verify(ctx context.Context, v *oauth.Verifier, by *oauth.Issuer, token string) (*oauth.Claims, error) {
	t, err := oauth.Parse(token)
	if err != nil {
		return nil, err
	}
	return v.Wait(ctx, t, by, []string{resource})
}

func isInvalid(err error) bool {
	var invalid *oauth.InvalidError
	return errors.As(err, &invalid)
}

func isUnavailable(err error) bool {
	var unavailable *oauth.UnavailableError
	return errors.As(err, &unavailable)
}

func TestGoodTokens(t *testing.T) {
	i := authtest.New(t)
	v := newVerifier(t)
	var keys []*authtest.Key
	for _, algorithm := range []string{authtest.RS256, authtest.PS256, authtest.ES256, authtest.EdDSA} {
		keys = append(keys, authtest.NewKey("key-"+algorithm, algorithm))
	}
	i.Publish(keys...)
	i.Set(authtest.KeysPath, authtest.BadEntries)
	for _, k := range keys {
		c, err := verify(t.Context(), v, of(i), k.Sign(nil, i.Claims(resource, "scope", "a b")))
		if err != nil || c.Subject != "ada" || c.Issuer != i.URL || strings.Join(c.Scopes, ",") != "a,b" {
			t.Errorf("%s: got %+v, %v", k.Algorithm, c, err)
		}
	}
	near := time.Now().Add(20 * time.Second).Unix()
	for name, c := range map[string]struct {
		header map[string]any
		claims map[string]any
	}{
		"long type":             {map[string]any{"typ": "application/AT+JWT"}, i.Claims(resource)},
		"several audiences":     {nil, i.Claims([]string{"x", resource})},
		"expired a moment ago":  {nil, i.Claims(resource, "exp", time.Now().Unix()-20)},
		"valid in a moment":     {nil, i.Claims(resource, "nbf", near, "iat", near)},
		"no iat":                {nil, i.Claims(resource, "iat", nil)},
		"fractions":             {nil, i.Claims(resource, "exp", float64(time.Now().Unix())+1000.5)},
		"scp, as Entra has it":  {nil, i.Claims(resource, "scp", "a b")},
		"scp, as Okta has it":   {nil, i.Claims(resource, "scp", []string{"a", "b"})},
		"200 claims":            {nil, many(i, 200)},
		"a type of its own":     {nil, i.Claims(resource, "typ", "Bearer")},
		"embedded key, ignored": {map[string]any{"jwk": authtest.NewKey("x", authtest.ES256).JWK()}, i.Claims(resource)},
	} {
		if _, err := verify(t.Context(), v, of(i), keys[0].Sign(c.header, c.claims)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := i.Asked(authtest.KeysPath); n != 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
}

// many returns the claims of a good token, of which there are n.
func many(i *authtest.Issuer, n int) map[string]any {
	c := i.Claims(resource)
	for len(c) < n {
		c[fmt.Sprint("claim", len(c))] = len(c)
	}
	return c
}

// numbered returns n members of a header.
func numbered(n int) map[string]any {
	all := map[string]any{}
	for i := range n {
		all[fmt.Sprint("member", i)] = i
	}
	return all
}

// Each token has one defect.
func TestBadTokens(t *testing.T) {
	i := authtest.New(t)
	v := newVerifier(t)
	rsa := authtest.NewKey("rsa", authtest.RS256)
	i.Publish(i.Key(), rsa)
	key, good := i.Key(), i.Token(resource)
	if _, err := verify(t.Context(), v, of(i), good); err != nil {
		t.Fatal(err)
	}
	stranger := authtest.NewKey(key.ID, authtest.ES256)
	parts := strings.Split(good, ".")
	header := func(name string, value any) string {
		return key.Sign(map[string]any{name: value}, i.Claims(resource))
	}
	later := time.Now().Add(time.Hour).Unix()
	for name, token := range map[string]string{
		"empty":                    "",
		"no token":                 "x",
		"two parts":                parts[0] + "." + parts[1],
		"five parts, as JWE has":   good + ".a.b",
		"JSON serialization":       `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`,
		"too long":                 i.Token(resource, "x", strings.Repeat("a", oauth.MaxToken)),
		"alg none":                 authtest.Unsigned(i.Claims(resource)),
		"alg none, signed":         header("alg", "none"),
		"alg NONE":                 header("alg", "NONE"),
		"no alg":                   header("alg", nil),
		"RS512":                    rsa.Sign(map[string]any{"alg": "RS512"}, i.Claims(resource)),
		"HS256, public key":        authtest.SignHS256(key.PEM(), map[string]any{"kid": key.ID}, i.Claims(resource)),
		"HS256, RSA public key":    authtest.SignHS256(rsa.PEM(), map[string]any{"kid": "rsa"}, i.Claims(resource)),
		"HS256, empty":             authtest.SignHS256("", nil, i.Claims(resource)),
		"alg of another key":       header("kid", "rsa"),
		"alg of the other key":     rsa.Sign(map[string]any{"alg": "ES256"}, i.Claims(resource)),
		"PS256 by an RS256 key":    authtest.NewKey("rsa", authtest.PS256).Sign(nil, i.Claims(resource)),
		"unknown kid":              header("kid", "other"),
		"kid is a path":            header("kid", "../../etc/passwd"),
		"kid is SQL":               header("kid", "' UNION SELECT 'x"),
		"kid is no string":         header("kid", 1),
		"no kid, two keys":         authtest.NewKey("", authtest.RS256).Sign(map[string]any{"kid": nil}, i.Claims(resource, "aud", "other")),
		"signed by a stranger":     stranger.Sign(nil, i.Claims(resource)),
		"key in the token":         stranger.Sign(map[string]any{"jwk": stranger.JWK()}, i.Claims(resource)),
		"URL of keys in the token": stranger.Sign(map[string]any{"jku": i.URL + authtest.KeysPath}, i.Claims(resource)),
		"unknown crit":             header("crit", []string{"x"}),
		"payload not in base64":    header("b64", false),
		"51 members of the header": key.Sign(numbered(48), i.Claims(resource)),
		"line end in the payload":  strings.Replace(good, ".", ".\n", 1),
		"alg is a list":            header("alg", []string{"ES256"}),
		"typ JWT":                  header("typ", "JWT"),
		"no typ":                   header("typ", nil),
		"typ is no string":         header("typ", 1),
		"within a token":           header("cty", "JWT"),
		"a token as payload":       key.SignPayload(nil, []byte(good)),
		"payload is a list":        key.SignPayload(nil, []byte("[]")),
		"payload is null":          key.SignPayload(nil, []byte("null")),
		"payload is not UTF-8":     key.SignPayload(nil, []byte("{\"a\":\"\xff")),
		"changed payload":          parts[0] + "." + strings.Split(i.Token(resource, "sub", "root"), ".")[1] + "." + parts[2],
		"no signature":             parts[0] + "." + parts[1] + ".",
		"other issuer":             i.Token(resource, "iss", "https://other.example"),
		"issuer with a slash":      i.Token(resource, "iss", i.URL+"/"),
		"no issuer":                i.Token(resource, "iss", nil),
		"issuer is a list":         i.Token(resource, "iss", []string{i.URL}),
		"other audience":           i.Token("https://mcp.example/t/zoo/mcp"),
		"longer audience":          i.Token(resource + "/"),
		"shorter audience":         i.Token("https://mcp.example"),
		"no audience":              i.Token(nil, "aud", nil),
		"audience is a number":     i.Token(7),
		"audiences with numbers":   i.Token([]any{resource, 7}),
		"101 audiences":            i.Token(append(make([]string, 100), resource)),
		"expired":                  i.Token(resource, "exp", time.Now().Unix()-31),
		"never expires":            i.Token(resource, "exp", nil),
		"exp is text":              i.Token(resource, "exp", "tomorrow"),
		"exp is null":              key.SignPayload(nil, []byte(`{"iss":"`+i.URL+`","sub":"ada","aud":"`+resource+`","exp":null}`)),
		"exp is negative":          i.Token(resource, "exp", -1),
		"exp is huge":              i.Token(resource, "exp", 1e300),
		"not yet valid":            i.Token(resource, "nbf", later),
		"issued in the future":     i.Token(resource, "iat", later),
		"no subject":               i.Token(resource, "sub", nil),
		"empty subject":            i.Token(resource, "sub", ""),
		"subject is a number":      i.Token(resource, "sub", 1),
		"201 claims":               key.Sign(nil, many(i, 201)),
		"101 scopes":               i.Token(resource, "scope", strings.Repeat("a ", 101)),
		"scope is an object":       i.Token(resource, "scope", map[string]any{}),
		"an ID token":              i.Token(resource, "nonce", "1"),
		"an ID token of a code":    i.Token(resource, "at_hash", "1"),
		"Keycloak's ID token":      i.Token(resource, "typ", "ID"),
		"a refresh token":          i.Token(resource, "typ", "Refresh"),
		"bound by DPoP":            i.Token(resource, "cnf", map[string]any{"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}),
		"bound by both":            i.Token(resource, "cnf", map[string]any{"jkt": "x", "x5t#S256": strings.Repeat("a", 43)}),
		"bound to nothing":         i.Token(resource, "cnf", map[string]any{}),
		"bound to a short hash":    i.Token(resource, "cnf", map[string]any{"x5t#S256": "a"}),
	} {
		c, err := verify(t.Context(), v, of(i), token)
		if c != nil || !isInvalid(err) {
			t.Errorf("%s: got %v, %v", name, c, err)
		}
		if len(token) > 20 && err != nil && strings.Contains(err.Error(), token[len(token)-10:]) {
			t.Errorf("%s: the error has a part of the token: %v", name, err)
		}
	}
}

// Real issuers bend the rules, and an operator may permit that.
func TestIssuersThatBendTheRules(t *testing.T) {
	i := authtest.New(t)
	v := newVerifier(t)
	bent := of(i)
	bent.Audiences, bent.Types = []string{"6e74172b-be56-4843-9ff4-e66a39bb12e3"}, []string{"JWT", ""}
	claims := i.Claims("6e74172b-be56-4843-9ff4-e66a39bb12e3")
	for _, typ := range []any{"JWT", "jwt", nil} {
		if _, err := verify(t.Context(), v, bent, i.Key().Sign(map[string]any{"typ": typ}, claims)); err != nil {
			t.Errorf("%v: %v", typ, err)
		}
	}
	if _, err := verify(t.Context(), v, bent, i.Key().Sign(nil, claims)); !isInvalid(err) {
		t.Errorf("a type that the operator does not name: %v", err)
	}
	id := i.Claims("6e74172b-be56-4843-9ff4-e66a39bb12e3", "nonce", "1")
	if _, err := verify(t.Context(), v, bent, i.Key().Sign(map[string]any{"typ": "JWT"}, id)); !isInvalid(err) {
		t.Errorf("an ID token: %v", err)
	}
	i.Set(authtest.MetadataPath, authtest.Failure) // as an issuer has that knows OpenID Connect alone
	if _, err := verify(t.Context(), newVerifier(t), of(i), i.Token(resource)); err != nil {
		t.Errorf("without the metadata of RFC 8414: %v", err)
	}
	i.Set(authtest.OpenIDPath, authtest.Failure)
	direct := of(i)
	direct.Keys = i.URL + authtest.KeysPath
	if _, err := verify(t.Context(), newVerifier(t), direct, i.Token(resource)); err != nil {
		t.Errorf("without metadata: %v", err)
	}
	only := authtest.NewKey("", authtest.RS256)
	i.Publish(only)
	if _, err := verify(t.Context(), newVerifier(t), direct, only.Sign(map[string]any{"kid": nil}, i.Claims(resource))); err != nil {
		t.Errorf("without kid: %v", err)
	}
}

// Whatever an issuer answers, a token that cannot be verified is not accepted, nor called invalid.
func TestIssuersThatFail(t *testing.T) {
	for _, c := range []struct {
		path   string
		answer authtest.Answer
	}{
		{authtest.KeysPath, authtest.Cut}, {authtest.KeysPath, authtest.Endless}, {authtest.KeysPath, authtest.Redirect},
		{authtest.KeysPath, authtest.Failure}, {authtest.KeysPath, authtest.NoJSON}, {authtest.KeysPath, authtest.HTML},
		{authtest.KeysPath, authtest.NoKeys}, {authtest.KeysPath, authtest.TooMany}, {authtest.KeysPath, authtest.WeakKeys},
		{authtest.MetadataPath, authtest.OtherName}, {authtest.MetadataPath, authtest.PlainKeys}, {authtest.MetadataPath, authtest.Endless},
		{authtest.MetadataPath, authtest.Redirect}, {authtest.MetadataPath, authtest.NoJSON},
	} {
		i := authtest.New(t)
		i.Set(c.path, c.answer)
		if c.path == authtest.MetadataPath {
			i.Set(authtest.OpenIDPath, c.answer)
		}
		v := newVerifier(t)
		for range 2 {
			if _, err := verify(t.Context(), v, of(i), i.Token(resource)); !isUnavailable(err) {
				t.Errorf("%s, %s: %v", c.path, c.answer, err)
			}
		}
		isRepeated := c.answer == authtest.Cut // by net/http, once, since the connection was used before
		if n := i.Asked(c.path); n > 1 && !isRepeated && c.path == authtest.KeysPath {
			t.Errorf("%s, %s: %d requests at once", c.path, c.answer, n)
		}
	}
}

// An issuer that does not answer holds those that wait for it until their context ends, and no other request.
func TestASlowIssuer(t *testing.T) {
	slow, quick := authtest.New(t), authtest.New(t)
	slow.Set(authtest.KeysPath, authtest.Hang)
	v := newVerifier(t)
	ctx, cancel := context.WithCancel(t.Context())
	waits := make(chan error, 1)
	go func() {
		_, err := verify(ctx, v, of(slow), slow.Token(resource))
		waits <- err
	}()
	slow.Await(authtest.KeysPath, 1)
	if _, err := verify(t.Context(), v, of(quick), quick.Token(resource)); err != nil {
		t.Error(err)
	}
	parsed, err := oauth.Parse(slow.Token(resource))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Check(parsed, of(slow), []string{resource}); !errors.Is(err, oauth.ErrPending) {
		t.Errorf("a check that must not wait: %v", err)
	}
	cancel()
	if err := <-waits; !isUnavailable(err) {
		t.Errorf("got %v", err)
	}
	if n := slow.Asked(authtest.KeysPath); n != 1 {
		t.Errorf("%d requests for the keys at once", n)
	}
}

// A tenant-admin could have the server ask services of the operator's network.
func TestIssuersAtPublicAddressesAlone(t *testing.T) {
	i := authtest.New(t)
	by := of(i)
	by.PublicOnly = true
	if _, err := verify(t.Context(), newVerifier(t), by, i.Token(resource)); !isUnavailable(err) {
		t.Errorf("got %v", err)
	}
	if n := i.Asked(authtest.MetadataPath) + i.Asked(authtest.OpenIDPath); n != 0 {
		t.Errorf("a loopback address got %d requests", n)
	}
}

func TestCheckURL(t *testing.T) {
	for text, want := range map[string]string{
		"https://id.example": "", "https://id.example:8443/realms/a": "", "https://[2001:db8::1]/x": "",
		"http://id.example": "not encrypted", "http://127.0.0.1:1": "insecure", "http://localhost": "insecure",
		"ftp://id.example": "https://", "id.example": "no URL", "https://": "no URL", "https://a@id.example": "no URL", "https://id.example/#a": "no URL", "": "no URL",
	} {
		if err := oauth.CheckURL(text, false); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := oauth.CheckURL("http://[::1]:80/a", true); err != nil {
		t.Error(err)
	}
	if err := oauth.CheckURL("http://10.0.0.1", true); err == nil {
		t.Error("HTTP to another machine")
	}
}

func TestValuesOfClaims(t *testing.T) {
	i := authtest.New(t)
	token := i.Token(resource, "roles", []string{"a", "b"}, "group", "c d", "https://acme.example/roles", []string{"e"},
		"realm_access", map[string]any{"roles": []string{"f"}, "n": 1}, "odd", []any{1, "a"})
	parsed, err := oauth.Parse(token)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"roles": "a b", "group": "c d", "https://acme.example/roles": "e", "realm_access.roles": "f",
		"realm_access.n": "", "realm_access.x": "", "realm_access": "", "odd": "", "none": "", "none.roles": "", "": "", ".": "", "roles.a": "",
	} {
		if got := strings.Join(parsed.Values(path), " "); got != want {
			t.Errorf("%s: got %q", path, got)
		}
	}
}
