// Package host serves the tenants of a server: it finds the tenant of a request, opens the tenant's providers when a client
// first asks for them, replaces them when their files change, and lets go of tenants that are not used.
//
// # The states of a tenant
//
// A tenant is cold at first: the host knows its configuration and has nothing open. The first request of a client with a
// valid credential opens it: the host loads the providers, which start no process before they are called, and makes a
// [runtime.Server]. When no request came for a while, and no session or stream is open, it becomes cold again.
//
// # What stays open
//
// Each provider of a tenant is open once, and shared by all that serves it: a change of one provider opens that one, and the
// others keep their processes and their caches. Subscribers are told of what changes, and lists go on where they were. If new
// providers cannot be loaded, they are tried again after a growing wait, while the earlier ones serve.
//
// # Canaries
//
// While a route has a canary, the host has a second set of providers, with that version in its place, and package rollout gives
// it to a share of the clients. When the version fails, its clients are at the active version before its owner is told; it
// stays back until the snapshot has another canary. A version that was replaced stays open as long as a rollback would return
// to it.
//
// A change of one tenant does nothing to the others. The tenant's own streams and sessions go on, unless its hosts,
// origins or tools changed, which belong to the server.
package host
