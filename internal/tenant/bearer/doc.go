// Package bearer authenticates the clients of tenants by access tokens of OAuth issuers.
//
// A [Set] has the issuers of all tenants, as the last snapshot has them. It leaves clients without a token, and those with an API
// key, to a [keys.Set]. What was verified is remembered by the SHA-256 of the token until the token ends, and of an opaque token for
// a minute. The endpoints of a tenant are its resources (RFC 8707): a token must name one of them, or an audience that the
// tenant's file has.
package bearer
