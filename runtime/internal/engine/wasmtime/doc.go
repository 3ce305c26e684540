// Package wasmtime is the second engine: wasmtime, with the code of Cranelift, behind the interfaces of package engine.
//
// It owns every wasmtime setting and is the only package that imports wasmtime-go, for the library of C that this contains.
// It is part of programs that are built with cgo and the tag wasmtime, for linux/amd64: the version has a hole in its code for arm64.
// Otherwise it has no content.
//
// The package calls the C API itself, by the declarations in api.h: wasmtime-go has neither the memory of the host nor calls
// without allocation. Its memory is that of the runtime: the library asks for it by [engine.LinearMemory], so that an instance is
// reset as one of wazero is. With [Open] the code of guests compares each address with the size of the memory, and the library handles no
// signals. With [OpenGuarded], for workers, accesses after the size fault, and the library makes traps of the signals.
package wasmtime
