// Package streamable serves the Model Context Protocol over Streamable HTTP, of all revisions at one endpoint.
//
// A [Handler] checks where a request comes from (hosts, origins), reads it within bounds of size and time, and finds out
// its revision. It holds requests of revision 2026-07-28 to that revision's rules for headers, and has the core answer
// them. Requests of older revisions belong to sessions of a [Legacy]: the core answers core requests as part of the
// session, and the Legacy gets all others unchanged. Package response writes the answers, subscription has the streams
// of changes, and download serves the bytes of resources.
//
// The package does not authenticate clients: a proxy in front of the server does.
package streamable
