package oauth_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/wasmres/wasmres/internal/authtest"
	"github.com/wasmres/wasmres/internal/oauth"
)

// No text but one with the payload that the issuer has signed is accepted.
func FuzzToken(f *testing.F) {
	i := authtest.New(f)
	v := newVerifier(f)
	good := i.Token(resource)
	if _, err := verify(f.Context(), v, of(i), good); err != nil {
		f.Fatal(err)
	}
	signed := strings.Split(good, ".")[1]
	stranger := authtest.NewKey(i.Key().ID, authtest.ES256)
	for _, seed := range []string{
		good, authtest.Unsigned(i.Claims(resource)), authtest.SignHS256(i.Key().PEM(), map[string]any{"kid": i.Key().ID}, i.Claims(resource)),
		stranger.Sign(map[string]any{"jwk": stranger.JWK()}, i.Claims(resource)), stranger.Sign(map[string]any{"crit": []string{"exp"}}, i.Claims(resource)),
		"", "..", good + ".", strings.ReplaceAll(good, ".", ".."),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		oauth.IsJWT(token)
		parsed, err := oauth.Parse(token)
		if err != nil {
			if !isInvalid(err) {
				t.Errorf("got %v", err)
			}
			return
		}
		for _, path := range []string{"roles", "a.b", ""} {
			parsed.Values(path)
		}
		if _, err := v.Check(parsed, of(i), []string{resource}); err == nil && strings.Split(token, ".")[1] != signed {
			t.Errorf("%q is accepted", token)
		} else if err == nil && !isAcceptedByJose(t, token, i.Key()) {
			t.Errorf("%q is accepted, but not by package jose", token)
		}
	})
}

// isAcceptedByJose has another implementation verify a token by a key.
func isAcceptedByJose(t *testing.T, token string, k *authtest.Key) bool {
	t.Helper()
	text, err := json.Marshal(k.JWK())
	if err != nil {
		t.Fatal(err)
	}
	var key jose.JSONWebKey
	if err := key.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.RS256, jose.PS256, jose.ES256, jose.EdDSA})
	if err != nil {
		return false
	}
	_, err = signed.Verify(key.Key)
	return err == nil
}

// Members are those that package json finds.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` { "a" : 1 , "b":[1,{"c":"}"}],"a":"\"x" } `, `{"\u0061":null,"":true,"ÿ":-1.5e3}`, `{"a":{"b":{}},"c":""}`, `[]`, `null`, `{"a"}`, ``, ` `, `{"a":1}x`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := oauth.Members(text)
		var want map[string]json.RawMessage
		if isObject := json.Unmarshal(text, &want) == nil && want != nil; ok != isObject {
			t.Fatalf("%q: got %v, %v", text, got, ok)
		}
		if len(got) != len(want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		for name, value := range want {
			if got[name] != string(value) {
				t.Errorf("%q: %q is %q, want %q", text, name, got[name], value)
			}
		}
	})
}

// A set has at most 100 keys, and none that is secret.
func FuzzKeySet(f *testing.F) {
	for _, k := range []*authtest.Key{authtest.NewKey("a", authtest.ES256), authtest.NewKey("b", authtest.EdDSA), authtest.NewKey("c", authtest.RS256)} {
		text, err := json.Marshal(map[string]any{"keys": []any{k.JWK(), "x", nil}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"keys":[{"kty":"oct","k":"AA"},{"kty":"RSA","n":"AA","e":"AAAAAAAAAAAAAAAAAAAA"}]}`))
	f.Add([]byte(`{"keys":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := oauth.ParseKeySet(text)
		if err == nil && (n < 1 || n > 100) {
			t.Errorf("%d keys", n)
		}
	})
}

// Metadata leads to encrypted places, or to this machine where that is permitted.
func FuzzMetadata(f *testing.F) {
	const issuer = "https://id.example"
	f.Add([]byte(`{"issuer":"https://id.example","jwks_uri":"https://id.example/keys","introspection_endpoint":"https://id.example/ask"}`))
	f.Add([]byte(`{"issuer":"https://id.example","jwks_uri":"http://169.254.169.254/"}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		keys, ask, err := oauth.ParseMetadata(&oauth.Issuer{URL: issuer}, text)
		for _, one := range []string{keys, ask} {
			if err == nil && one != "" && !strings.HasPrefix(strings.ToLower(one), "https://") {
				t.Errorf("it leads to %q", one)
			}
		}
	})
}

// What an issuer says of a token is active and names a client, or is refused.
func FuzzIntrospection(f *testing.F) {
	f.Add([]byte(`{"active":true,"sub":"ada","aud":["a"],"scope":"a b","exp":1,"cnf":{"x5t#S256":"x"}}`))
	f.Add([]byte(`{"active":false}`))
	f.Add([]byte(`{"active":"true","sub":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := oauth.ParseIntrospection(text)
		switch {
		case err != nil && !isInvalid(err):
			t.Errorf("got %v", err)
		case err == nil && c.Subject == "":
			t.Error("a token without a client is accepted")
		}
	})
}
