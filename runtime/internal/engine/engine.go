package engine

import (
	"context"
	"errors"

	"github.com/wasmres/wasmres/abi"
)

// PageSize is the unit of linear memory, in bytes.
const PageSize = 64 << 10

// An Engine compiles modules. It is safe for concurrent use. What it is given has been admitted and metered: engines
// are not a line of defence against malformed modules.
type Engine interface {
	// Compile translates a module and links it with the host functions it imports. An import that is not in host, or
	// has another signature there, is an error that names it.
	Compile(ctx context.Context, wasm []byte, host []HostFunc) (Module, error)

	// Close releases the engine. Every module must have been closed.
	Close() error
}

// A Module is a compiled module. It is safe for concurrent use.
type Module interface {
	// Instantiate makes a live sandbox whose memory is memory. host is what host functions get as their caller. Nothing
	// of the guest has run when it returns.
	Instantiate(ctx context.Context, host any, memory LinearMemory) (Instance, error)

	// Close releases the module. Every instance must have been closed.
	Close() error
}

// An Instance is one live sandbox. It belongs to one goroutine at a time.
type Instance interface {
	// Call runs an exported function with its parameters in stack, which then holds its results. It ends with an
	// error when the guest traps and when a host function stops the guest; nothing else ends it. That is a [*Trap] where
	// an engine knows what was running. The instance can be called again after an error.
	Call(ctx context.Context, export string, stack []uint64) error

	// Memory is the instance's linear memory, for as long as the instance is open.
	Memory() Memory

	// Global gives an exported mutable global of a numeric type, or nil when there is none with this name.
	Global(export string) Global

	// Resize makes the instance take the size of its memory from [LinearMemory.Reallocate] again, which may answer
	// with less than before. It fails where an engine cannot do that; the instance must then be closed.
	Resize() error

	// Close releases the instance. It is idempotent.
	Close() error
}

// A Trimmer is an Instance that keeps something to be quick.
type Trimmer interface {
	// Trim gives that back, until the next call.
	Trim()
}

// LinearMemory is what stands behind the linear memory of one instance. It belongs to the goroutine that has the
// instance.
type LinearMemory interface {
	// Reallocate gives the bytes of the memory, which may stay where they are. The first call, which makes the memory,
	// must not be refused and may give more than size. Later calls are the guest's wish to grow to size bytes, and may
	// be refused with nil; and those of [Instance.Resize], which take what they get.
	Reallocate(size uint64) []byte

	// Free is called when the instance is closed.
	Free()
}

// A Global is a mutable global of a numeric type. Its value occupies the low bits.
type Global interface {
	Get() uint64
	Set(uint64)
}

// Memory is the linear memory of an instance, as the host sees it.
type Memory interface {
	// Read gives a view of n bytes at off, or false when they are out of range. The view must not outlive the call
	// of the guest, nor a call of the guest within it.
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
	// panics with [Stop].
	Call func(ctx context.Context, mem Memory, host any, stack []uint64)
}

// ErrStack is in the chain of the error of a call that used up the stack an engine has for it.
var ErrStack = errors.New("stack exhausted")

// A Trap is the error of a call that ended in the middle of the guest.
type Trap struct {
	Err error
	// Reason is Err in a few words, on one line, which the guest has no hand in.
	Reason string
	// Stack is the functions that were running, as the module that was compiled counts them, innermost first: as many
	// as the engine keeps track of, and none of the host's.
	Stack []uint32
}

func (t *Trap) Error() string { return t.Err.Error() }

// Unwrap gives Err.
func (t *Trap) Unwrap() error { return t.Err }

// A Stop ends the guest from within a host function. It becomes the error of the call that ran the guest.
type Stop struct{ Err error }

func (s Stop) Error() string { return s.Err.Error() }

// Unwrap gives the reason.
func (s Stop) Unwrap() error { return s.Err }
