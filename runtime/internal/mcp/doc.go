// Package mcp is the Model Context Protocol, revision 2026-07-28, for a server of resources: its values and its rules.
//
// It owns the methods a resource server answers, and how messages, results and errors look in JSON in this and in older
// revisions. Resources come from a [github.com/wasmres/wasmres/runtime/resource.Source]. The fronts below this folder own
// framing and transport: stdio, streamable, legacy.
//
// The fronts and internal/app may import it. It never reads from or writes to a connection, and knows
// nothing of WebAssembly. The one goroutine it starts tells of progress, and ends with its request.
//
// # JSON
//
// What clients send is read by a scanner of our own, which is exact where encoding/json is lenient: names are matched
// byte for byte, a name we read may stand only once in its object, and nesting is bounded. Names we do not read are
// ignored, whatever stands there. Results are appended to one growing buffer, which is used again; contents are encoded
// into it while the source still runs, and when it is full it leaves a part at a time, where a front lets it.
package mcp
