// Package load asks an MCP server for the same thing as fast as it answers, or at a given rate, and measures.
//
// It owns a client that costs as little as one can on Linux: one thread, plain system calls, nothing allocated while it
// measures, no more of HTTP and JSON than it takes to find the end of a response. Over HTTP each connection has one
// request under way, and a session of its own where the revision has them; on stdio requests are pipelined. The length
// of each response, and on stdio its id, must be that of the first one; what is in it is for the caller to check before,
// with an Exchange or a Pipe.
//
// Package serving imports it. It starts no servers, and is no client to be used for anything else.
package load
