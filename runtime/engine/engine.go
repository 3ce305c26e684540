package engine

import (
	"context"
	"errors"

	"github.com/wasmres/wasmres/abi"
)

// PageSize is the unit of linear memory, in bytes.
const PageSize = 64 << 10

// An Engine compiles modules. It is safe for concurrent use.
type Engine interface {
	// Compile translates a module and links it with the host functions it imports. An import that is not in host, or
	// has another signature there, is an error that names it. The module is bound to memoryPages of linear memory for
	// each instance.
	Compile(ctx context.Context, wasm []byte, host []HostFunc, memoryPages uint32) (Module, error)

	// Close releases the engine. Every module must have been closed.
	Close() error
}

// A Module is a compiled module. It is safe for concurrent use.
type Module interface {
	// Exports gives the signature of every exported function.
	Exports() map[string]abi.Signature

	// HasMemory reports whether the module exports a memory named [abi.ExportMemory].
	HasMemory() bool

	// Instantiate makes a live sandbox. host is what host functions get as their caller; nothing of the guest but its
	// start section has run when it returns.
	Instantiate(ctx context.Context, host any) (Instance, error)

	// Close releases the module. Every instance must have been closed.
	Close() error
}

// An Instance is one live sandbox. It belongs to one goroutine at a time.
type Instance interface {
	// Call runs an exported function with its parameters in stack, which then holds its results. It ends with an
	// error when the guest traps, when a host function stops the guest, and soon after ctx ends. After an error the
	// instance must be closed.
	Call(ctx context.Context, export string, stack []uint64) error

	// MemoryRefused reports whether the guest has asked for more memory than it may have.
	MemoryRefused() bool

	// Close releases the instance. It is idempotent.
	Close() error
}

// Memory is the linear memory of the instance that called a host function.
type Memory interface {
	// Read gives a view of n bytes at off, or false when they are out of range. The view must not outlive the host
	// function.
	Read(off, n uint32) ([]byte, bool)
	// Write copies p to off, or does nothing and gives false when it does not fit.
	Write(off uint32, p []byte) bool
}

// A HostFunc is a function guests may import.
type HostFunc struct {
	Module, Name string
	Type         abi.Signature
	// Call runs the function: parameters, then results, are in stack, where an i32 parameter occupies the low half of
	// its slot and the high half is undefined. host is what the instance was made with. To stop the guest, Call
	// panics with [Stop]. It is not entered once ctx has ended.
	Call func(ctx context.Context, mem Memory, host any, stack []uint64)
}

// A Stop ends the guest from within a host function. It becomes the error of the call that ran the guest.
type Stop struct{ Err error }

func (s Stop) Error() string { return s.Err.Error() }

// Unwrap gives the reason.
func (s Stop) Unwrap() error { return s.Err }

// ErrMemory says that a module asks for more memory at its start than an instance may have.
var ErrMemory = errors.New("initial memory over the limit")
