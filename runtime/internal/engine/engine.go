package engine

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/wasmres/wasmres/abi"
)

// PageSize is the unit of linear memory, in bytes.
const PageSize = 64 << 10

// Config configures an Engine.
type Config struct {
	// CacheDir stores compiled modules between runs. The engine makes it with mode 0700. It must belong to this user, and no
	// other user may write to it, since the engine runs its files as native code: the engine checks that. Empty stores them in
	// memory.
	CacheDir string
	// Precompile is called before a module is compiled, and gives the directory that replaces CacheDir for this module, with
	// native code that the same engine has made in a process that can be stopped, as a compilation in this process cannot. Its
	// error ends the compilation. Nil compiles in this process.
	Precompile func(ctx context.Context, binary []byte) (dir string, err error)
	// Tested is the result of the engine's tests in another process of this program, so that it need not run them. Nil runs
	// them.
	Tested *Tests
	// Code is the native code of the only module that is compiled, alone in a file that does not change while the module is open.
	// An engine that can, maps it, so that processes share its pages. The caller may close it after Compile. Nil is for
	// copying the code.
	Code   *os.File
	Logger *slog.Logger // nil discards
}

// Tests are the results of an engine's tests of what it relies on.
type Tests struct {
	Resizes bool `json:"resizes"` // instances can shrink their memory
}

// An Engine compiles modules. It is safe for concurrent use. Its modules are admitted and metered, so an engine need
// not defend itself against malformed ones.
type Engine interface {
	// Compile translates a module and links it with the host functions it imports. An import that is not in host, or
	// has another signature there, is an error that names it.
	Compile(ctx context.Context, wasm []byte, host []HostFunc) (Module, error)

	// Close releases the engine. Every module must have been closed.
	Close() error
}

// A Module is a compiled module. It is safe for concurrent use.
type Module interface {
	// Instantiate makes a live sandbox with that memory. It passes host to host functions, and runs nothing of the
	// guest.
	Instantiate(ctx context.Context, host any, memory LinearMemory) (Instance, error)

	// Close releases the module. Every instance must have been closed.
	Close() error
}

// An Instance is one live sandbox. It belongs to one goroutine at a time.
type Instance interface {
	// Call runs an exported function with its parameters in stack, which then holds its results. A call ends early only
	// by a trap of the guest, or when a host function stops the guest; then there is an error. It is a [*Trap] if the
	// engine knows which functions were running. The instance can be called again after an error.
	Call(ctx context.Context, export string, stack []uint64) error

	// Memory is the instance's linear memory, for as long as the instance is open.
	Memory() Memory

	// Global returns an exported mutable global of a numeric type; nil if there is none with this name.
	Global(export string) Global

	// Resize makes the instance call [LinearMemory.Reallocate], and take the size of its result, which may be smaller
	// than before. After an error the caller must close the instance.
	Resize() error

	// Close releases the instance. It is idempotent.
	Close() error
}

// A Trimmer is an Instance or a Module that keeps memory for its next call.
type Trimmer interface {
	// Trim releases that memory. A Module can be trimmed while its instances run.
	Trim()
}

// A CodeMapper is a Module that can map its native code from [Config.Code].
type CodeMapper interface {
	// Copied returns why the native code is a copy; nil if it is mapped.
	Copied() error
}

// A ThreadKeeper is an Instance whose guest has a thread of its own while it runs: other goroutines run on other threads, and
// yielding to them would make the kernel switch threads twice.
type ThreadKeeper interface {
	// KeepsThread marks the type.
	KeepsThread()
}

// LinearMemory allocates the linear memory of one instance. It belongs to the goroutine that has the instance.
type LinearMemory interface {
	// Reallocate returns the bytes of the memory, at the same address or another. The first call makes the memory: it
	// must not return nil, and may give more than size. Later calls grow the memory to size bytes for the guest, unless
	// the result is nil, or are of [Instance.Resize], which accepts any size.
	Reallocate(size uint64) []byte

	// Free is called when the instance is closed.
	Free()
}

// A Reserver is a Module whose code leaves it to the processor to check addresses.
type Reserver interface {
	// Reservation returns how much each of its memories must reserve: see [Reserved]. Zero is for code that compares each address
	// with the size of the memory.
	Reservation() uint64
}

// A Reserved is a LinearMemory that has address space of its own.
type Reserved interface {
	// Reserved returns how many bytes of address space, from the beginning of the memory, belong to it. Each access to those after
	// the size that Reallocate has returned last faults.
	Reserved() uint64
}

// A Global is a mutable global of a numeric type. Its value occupies the low bits.
type Global interface {
	Get() uint64
	Set(uint64)
}

// Memory is the linear memory of an instance, as the host sees it.
type Memory interface {
	// Read returns a view of n bytes at off, or false when they are out of range. The view is valid until the call of
	// the guest ends, or calls the guest again.
	Read(off, n uint32) ([]byte, bool)
	// Write copies p to off. It does nothing and returns false if that is out of range.
	Write(off uint32, p []byte) bool
}

// A HostFunc is a function that guests may import.
type HostFunc struct {
	Module, Name string
	Type         abi.Signature
	// Call runs the function. stack has its parameters, then its results; the high half of an i32 parameter is undefined.
	// host is that of [Module.Instantiate]. To stop the guest, Call panics with [Stop].
	Call func(ctx context.Context, mem Memory, host any, stack []uint64)
}

// ErrStack is in the chain of the error of a call that has exhausted the stack of the engine.
var ErrStack = errors.New("stack exhausted")

// A Trap is the error of a call that ended while the guest was running.
type Trap struct {
	Err error
	// Reason is Err in a few words, on one line. The guest has no influence on it.
	Reason string
	// Stack is the indices of the functions that were running, in the compiled module, innermost first: as many as the
	// engine records, without host functions.
	Stack []uint32
}

func (t *Trap) Error() string { return t.Err.Error() }

// Unwrap returns Err.
func (t *Trap) Unwrap() error { return t.Err }

// A Stop ends the guest from within a host function. It becomes the error of the call that ran the guest.
type Stop struct{ Err error }

func (s Stop) Error() string { return s.Err.Error() }

// Unwrap returns the reason.
func (s Stop) Unwrap() error { return s.Err }
