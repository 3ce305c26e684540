// Package engine has the interfaces that a WebAssembly engine implements for wasmres.
//
// It owns the border between the runtime and an engine, and the type of a host function. The packages below this directory
// implement it. No types of a particular engine appear here.
package engine
