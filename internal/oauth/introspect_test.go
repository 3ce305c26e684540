package oauth_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/authtest"
	"github.com/wasmres/wasmres/internal/oauth"
)

// asked returns an issuer that is asked about opaque tokens.
func asked(i *authtest.Issuer) *oauth.Issuer {
	by := of(i)
	by.Introspection = &oauth.Introspection{ClientID: authtest.ClientID, Secret: func() (string, error) { return authtest.Secret, nil }}
	return by
}

func TestOpaqueTokens(t *testing.T) {
	i := authtest.New(t)
	v := newVerifier(t)
	active := func(changes ...any) map[string]any {
		return i.Claims(resource, append([]any{"active", true}, changes...)...)
	}
	for name, c := range map[string]struct {
		says  map[string]any
		valid bool
	}{
		"active":              {active(), true},
		"no issuer":           {active("iss", nil), true},
		"no end":              {active("exp", nil), true},
		"a client's own":      {active("sub", nil), true},
		"bearer":              {active("token_type", "Bearer"), true},
		"unknown":             {nil, false},
		"inactive":            {active("active", false), false},
		"active is text":      {active("active", "true"), false},
		"active is missing":   {active("active", nil), false},
		"other issuer":        {active("iss", "https://other.example"), false},
		"expired":             {active("exp", time.Now().Unix()-60), false},
		"other audience":      {active("aud", "x"), false},
		"no audience":         {active("aud", nil), false},
		"of no one":           {active("sub", nil, "client_id", nil), false},
		"proof of possession": {active("token_type", "DPoP"), false},
		"bound by DPoP":       {active("cnf", map[string]any{"jkt": "x"}), false},
		"201 claims":          {func() map[string]any { c := many(i, 200); c["active"] = true; return c }(), false},
	} {
		if c.says != nil {
			i.Know(name, c.says)
		}
		claims, err := v.Introspect(t.Context(), name, asked(i), []string{resource})
		if c.valid != (err == nil) || err != nil && !isInvalid(err) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (claims.Issuer != i.URL || claims.Subject == "") {
			t.Errorf("%s: got %+v", name, claims)
		}
	}
	named := asked(i)
	named.Audiences = []string{"app"}
	i.Know("client", active("aud", nil))
	if _, err := v.Introspect(t.Context(), "client", named, []string{resource}); err != nil {
		t.Errorf("a token without an audience, of a client that the operator names: %v", err)
	}
	i.Know("resource", active("aud", nil, "client_id", resource))
	if _, err := v.Introspect(t.Context(), "resource", named, []string{resource}); !isInvalid(err) {
		t.Errorf("a client that has the name of the resource: %v", err)
	}
	for _, token := range []string{"", strings.Repeat("a", oauth.MaxToken+1)} {
		if _, err := v.Introspect(t.Context(), token, asked(i), nil); !isInvalid(err) {
			t.Errorf("a token of %d bytes: %v", len(token), err)
		}
	}
	if _, err := v.Introspect(t.Context(), "x", of(i), nil); !isInvalid(err) {
		t.Errorf("an issuer that is not asked: %v", err)
	}
	wrong := asked(i)
	wrong.Introspection.ClientID = "other"
	if _, err := v.Introspect(t.Context(), "x", wrong, nil); !isUnavailable(err) {
		t.Errorf("a server that the issuer does not know: %v", err)
	}
	for _, answer := range []authtest.Answer{authtest.Cut, authtest.Endless, authtest.Redirect, authtest.Failure, authtest.NoJSON, authtest.HTML} {
		i.Set(authtest.IntrospectionPath, answer)
		if _, err := v.Introspect(t.Context(), "active", asked(i), []string{resource}); !isUnavailable(err) {
			t.Errorf("%s: %v", answer, err)
		}
	}
}
