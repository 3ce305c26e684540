// Package streamable serves the Model Context Protocol over Streamable HTTP, in both eras on one endpoint.
//
// It owns the connections and their times, the door (origin, host, size, content types), the choice of the era, what
// revision 2026-07-28 asks of headers and statuses, response streams, downloads, and whether an answer is compressed.
// [Server] answers plain requests before net/http reads them; [Handler] has the rest, and defines what both do. Older
// revisions are served by a [Legacy] it is given: their usual requests are answered here, as part of its sessions, and
// all others are handed on as they came.
//
// Only internal/app imports it. It asks for no credentials: that is done in front of it.
package streamable
