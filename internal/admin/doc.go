// Package admin is the operators' side of a server: an API on a Unix socket with its client, and the endpoints that tell
// probes and Prometheus how the server is.
//
// # The API
//
// Bodies are JSON. An error is a problem of RFC 9457 with a stable member "code": see [Problem].
//
//	GET    /v1/node                      the server: version, generation, capacity, problems
//	GET    /v1/tenants                   tenants, by pages: limit, cursor, stale=true
//	GET    /v1/tenants/{tenant}          one of them, with its providers
//	GET    /v1/tenants/{tenant}/keys     its keys, by pages
//	POST   /v1/tenants/{tenant}/keys     makes a key; only this answer has its text
//	GET    /v1/keys                      the keys of all tenants, by pages
//	DELETE /v1/keys/{key}                revokes a key
//	POST   /v1/keys/{key}/rotate         makes a key that replaces another
//	GET    /v1/top                       the busiest tenants: limit
//	POST   /v1/reload                    reads the configuration again
//
// # Who may use it
//
// Only the user that the server runs as, and root: the socket has mode 0600, and on Linux the server asks the kernel who is
// at the other end of each connection.
package admin
