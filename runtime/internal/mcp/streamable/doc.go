// Package streamable serves the Model Context Protocol over Streamable HTTP, of all revisions at one endpoint.
//
// A [Handler] checks the host and the origin of a request, reads it within bounds of size and time, and determines its
// revision. For requests of revision 2026-07-28 it checks that revision's headers, and the core answers. Requests of
// older revisions belong to sessions of a [Legacy]: the core answers core requests as part of the session, and the
// Legacy gets all others unchanged. Package response writes the answers, subscription has the streams of changes, and
// download serves the bytes of resources.
//
// A Handler has an [auth.Authenticator] tell who sends a request, limits the rate of each client, and puts the client into
// the context, where the source of resources and the access log find it.
package streamable
