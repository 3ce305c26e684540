// Package engine is what any WebAssembly engine must do for wasmres: a handful of small interfaces.
//
// It owns the seam between the runtime and an engine, and the shape of a host function. The engines below this folder
// implement it; runtime and the packages that define host functions use it. No engine's own types appear here.
package engine
