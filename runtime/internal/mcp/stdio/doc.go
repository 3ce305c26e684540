// Package stdio serves the Model Context Protocol on a pair of streams, one message on each line, of all revisions.
//
// It splits lines, runs requests beside each other within bounds, cancels them, and ends the connection in order. A request
// that names its revision in _meta is answered by the core. initialize opens a session of an older revision. From then
// on the session gets the other messages, except that the core answers its core requests once it is ready.
//
// The package knows the older revisions by the interface [Legacy] alone, and does not use the standard streams of the
// process unless its caller passes them.
package stdio
