// Package stdio serves the Model Context Protocol over one pair of streams, a line a message, in both eras at once.
//
// It owns the framing, what runs at the same time, cancellation, and the end of the connection. A request that names
// its revision in _meta is answered by the core; initialize opens a session of an older revision, which from then on
// gets whatever is not modern, but for the usual requests, which the core answers as soon as the session is ready.
//
// Only internal/app imports it. It knows the older revisions by the interface [Legacy] alone, and never touches the
// process's own standard streams.
package stdio
