package oauth_test

import (
	"testing"

	"github.com/wasmres/wasmres/internal/authtest"
	"github.com/wasmres/wasmres/internal/oauth"
)

// BenchmarkVerify is the first verification of a token whose issuer's keys are known, parsing included.
func BenchmarkVerify(b *testing.B) {
	for _, algorithm := range []string{authtest.RS256, authtest.PS256, authtest.ES256, authtest.EdDSA} {
		b.Run(algorithm, func(b *testing.B) {
			i := authtest.New(b)
			i.Publish(authtest.NewKey("key", algorithm))
			v, by, token := newVerifier(b), of(i), i.Token(resource, "scope", "a b", "roles", []string{"a", "b"})
			if _, err := verify(b.Context(), v, by, token); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				t, err := oauth.Parse(token)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := v.Check(t, by, []string{resource}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
