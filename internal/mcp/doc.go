// Package mcp is the Model Context Protocol, revision 2026-07-28, for a server of resources: its values and its rules.
//
// It owns the methods a resource server answers, how messages, results and errors look in JSON in this and in older
// revisions, and [Source], the one interface whoever has resources to serve must meet. The fronts below this folder own
// framing and transport: stdio, streamable, legacy.
//
// The fronts and internal/app may import it. It never reads from or writes to a connection, starts no goroutine, and
// knows nothing of WebAssembly.
//
// # JSON
//
// What clients send is read by a scanner of our own, which is exact where encoding/json is lenient: names are matched
// byte for byte, a name we read may stand only once in its object, and nesting is bounded. Names we do not read are
// ignored, whatever stands there. Results are appended to one growing buffer; contents are encoded into it while the
// source still runs.
package mcp
