//go:build 386 || arm || mips || mipsle

package abi

// wasmres needs 64 bits: the engine compiles for amd64 and arm64 alone, and the memory of one guest may have as many bytes as a
// process of 32 bits can address. The undefined name is the error that says so.
var _ = wasmres_needs_a_system_of_64_bits
