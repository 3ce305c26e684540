// Package wasm reads and writes the WebAssembly binary format; it knows nothing of wasmres.
//
// It owns the structure of a module's bytes: sections, numbers, names and the instructions of the core specification
// 2.0, which are also wazero's CoreFeaturesV2. All input is hostile: the package allocates nothing from a declared
// length or count, and after the first error a [Reader] reads nothing more. If the specification allows several
// encodings and an engine understands only one, the package reads only that one.
//
// Any package of runtime may import it. It does not validate modules.
package wasm
