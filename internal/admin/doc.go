// Package admin is the operators' side of a server: an API on a Unix socket with its client, and the endpoints that tell
// probes and Prometheus how the server is.
//
// # The API
//
// [OpenAPI] describes it, and GET /openapi.json answers that. Bodies are JSON. An error is a problem of RFC 9457 with a stable
// member "code": see [Problem].
//
// An answer about one object has its ETag. A write with If-Match is made only if the object is still the same. A write with an
// Idempotency-Key may be sent again for 24 hours, in which the server makes it once.
//
// # Who may use it
//
// Only the user that the server runs as, and root: the socket has mode 0600, and on Linux the server asks the kernel who is
// at the other end of each connection.
package admin
