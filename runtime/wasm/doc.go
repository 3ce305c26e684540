// Package wasm reads and writes the WebAssembly binary format; it knows nothing of wasmres.
//
// It owns the structure of a module's bytes: sections, numbers, names and the instructions of the core specification 2.0,
// which are also wazero's CoreFeaturesV2. Everything read here is hostile: nothing is allocated from a declared length or
// count, and after the first error a [Reader] reads nothing more. Where the specification allows several encodings and an
// engine understands but one, only that one is read.
//
// Any package of runtime may import it. Whether a module is valid is not its question.
package wasm
