// Package streamable serves the Model Context Protocol over Streamable HTTP, of all revisions at one endpoint.
//
// A [Handler] checks the host and the origin of a request, reads it within bounds of size and time, and determines its
// revision. For requests of revision 2026-07-28 it checks that revision's headers, and the core answers. Requests of
// older revisions belong to sessions of a [Legacy]: the core answers core requests as part of the session, and the
// Legacy gets all others unchanged. Package response writes the answers, subscription has the streams of changes, and
// download serves the bytes of resources.
//
// The package does not authenticate clients: a proxy in front of the server does.
package streamable
