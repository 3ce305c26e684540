// Package wasm reads and writes the WebAssembly binary format; it knows nothing of wasmres.
//
// It owns the section structure of a module. Everything read here is hostile: nothing is allocated from a declared
// length. Validation is the engine's.
package wasm
