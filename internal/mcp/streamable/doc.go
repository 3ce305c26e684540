// Package streamable serves the Model Context Protocol over Streamable HTTP, in both eras on one endpoint.
//
// It owns the door (origin, host, size, content types), the choice of the era, what revision 2026-07-28 asks of headers
// and statuses, and its response streams. Older revisions are served by a handler it is given, to which it hands
// requests on as they came.
//
// Only internal/app imports it. It listens on nothing, and asks for no credentials: that is done in front of it.
package streamable
