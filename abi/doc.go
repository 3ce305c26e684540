// Package abi is the contract between a wasmres host and a guest module: the names, codes and messages of ABI
// version 1, byte for byte.
//
// It owns the import and export names with their exact signatures, the operations, the result codes, the messages with
// their encoding, the manifest, and the rules every URI and text must meet. docs/abi.md tells the same story to an
// author of guests; testdata/abi has golden vectors, against which both sides are tested.
//
// Every package may import it; it imports nothing of wasmres and runs nothing.
//
// # Encoding
//
// Messages use the protobuf wire format with the schema in wasmres_v1.proto. No protobuf library is needed on either
// side. Unknown fields are skipped, so both sides may be of different minor versions. Everything decoded here is
// hostile: decoders never panic, never allocate from a declared length, and bound nesting, counts and sizes.
//
// Where protobuf libraries are lenient, these decoders are not: text must be UTF-8, a 32-bit number must fit, a known
// field must have its wire type, and groups (wire types 3 and 4) are malformed. Numbers may be padded to ten bytes,
// tags and lengths to five. A field that is not repeated and comes again replaces what came before, embedded messages
// included: they are never merged. A second manifest in one reply is malformed.
package abi

//go:generate go run ./internal/abigen
