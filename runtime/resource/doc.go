// Package resource has the interface of everything that can serve MCP resources: [Source]. Providers are Sources;
// Sources can be combined, replaced or wrapped before a server serves them.
//
// # Wrapping a Source
//
// A wrapper implements all methods of Source, and as many of the optional interfaces [Identified], [SessionEnder],
// [Versioned], [Traceable], [Directories] and [AfterResponder] as the Source that it wraps. If a wrapper leaves them out, the server needs a name
// in its options, keeps the state of ended sessions until it expires, caches no lists, serves no skills, and resets guests at their next
// use. Embedding the Source does not forward optional interfaces, since it has the methods of Source only. The example
// of Source is such a wrapper.
//
// # Errors
//
// The code of an error is what [abi.CodeOf] gives for it. The client receives the message of the first [abi.Error] in its
// chain, and no other text, so that a wrapper may add context with fmt.Errorf and %w: context is for the log alone. An
// error without an abi.Error is an internal one; the client then receives no detail. The end of a context is its
// ctx.Err().
//
// # Concurrency
//
// All methods are called from many goroutines at once. A request belongs to its caller, who may change it when the call
// has returned, so that an implementation keeps nothing of it and does not change it. A reply is shared: neither the
// caller nor a wrapper changes it. A wrapper that has a different answer makes a copy.
package resource
