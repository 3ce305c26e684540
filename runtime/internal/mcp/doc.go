// Package mcp is the Model Context Protocol, revision 2026-07-28, for a server of resources: its values and its rules.
//
// It owns the methods of a resource server, and the JSON of messages, results and errors in this and in older
// revisions. Resources come from a [github.com/wasmres/wasmres/runtime/resource.Source]. The fronts below this
// directory own framing and transport: stdio, streamable, legacy.
//
// It never reads from or writes to a connection, and knows nothing of WebAssembly. The one goroutine it starts sends
// progress, and ends with its request.
//
// # JSON
//
// A scanner reads the messages of clients. It is exact where encoding/json is lenient: it matches names byte for byte,
// refuses an object that has a name of the protocol twice, bounds the nesting, and skips the values of unknown names.
// Results are appended to one growing buffer, which is used again. Contents are encoded into it while the source still
// runs. When the buffer is full, it is sent in parts, if the front can send parts.
package mcp
