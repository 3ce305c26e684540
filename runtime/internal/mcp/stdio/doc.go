// Package stdio serves the Model Context Protocol on a pair of streams, one message on each line, of all revisions.
//
// It splits lines, runs a bounded number of requests concurrently, cancels them, and closes the connection in order.
// The core answers a request that names its revision in _meta. initialize opens a session of an older revision. From
// then on the session gets the other messages; once it is ready, the core answers its core requests.
//
// The package knows the older revisions by the interface [Legacy] alone, and does not use the standard streams of the
// process unless its caller passes them.
package stdio
