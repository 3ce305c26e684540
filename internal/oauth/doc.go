// Package oauth verifies the access tokens of OAuth issuers, as a resource server does.
//
// A [Verifier] checks JSON Web Tokens by the keys that their issuer publishes (RFC 9068, RFC 7517), and asks the issuer about
// opaque tokens (RFC 7662). It finds both by the metadata of the issuer (RFC 8414, OpenID Connect Discovery). [Metadata] is
// what the resource server says of itself (RFC 9728). What issuers and clients send is bounded, and checked before it is used.
// Nothing here logs a token, or puts it into an error.
package oauth
