// Package engines knows the engines of this program by their names: wazero, and wasmtime where it was built in.
package engines

import (
	"cmp"
	"context"
	"io"
	"log/slog"

	"github.com/wasmres/wasmres/internal/enginename"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
)

// A Kind is an engine by its name. The zero Kind is [Wazero]. Only Kinds that [Parse] or InWorker has returned are in this program.
type Kind string

const (
	Wazero   Kind = enginename.Wazero
	Wasmtime Kind = enginename.Wasmtime

	// guarded is Wasmtime where faults of the processor check the addresses of guests.
	guarded Kind = enginename.Wasmtime + "-guarded"
)

// InWorker returns the engine that runs k's modules in a process which runs the guests of one module alone: k or, of the same engine, one
// that handles faults of its guests as signals.
func (k Kind) InWorker() Kind {
	if _, ok := kits[guarded]; ok && k == Wasmtime {
		return guarded
	}
	return k
}

// Parse returns the engine with a name; [Wazero] for none.
func Parse(name string) (Kind, error) {
	if err := enginename.Check(name); err != nil {
		return "", err
	}
	return Kind(cmp.Or(name, enginename.Wazero)), nil
}

// All returns the engines of this program, the default first.
func All() []Kind {
	all := []Kind{Wazero}
	if kits[Wasmtime].open != nil {
		all = append(all, Wasmtime)
	}
	return all
}

// A kit has the functions of an engine.
type kit struct {
	version      string
	open         func(engine.Config) (engine.Engine, error)
	precompile   func(ctx context.Context, dir string, binary []byte) error
	makeCacheDir func(dir string) error
	fingerprint  func(ctx context.Context, dir string) (string, error)
	test         func(*slog.Logger) engine.Tests
	warm         func()
	threadStack  uint64
	reservation  uint64
	nativeCode   func(entry io.ReaderAt, size int64) (*io.SectionReader, error) // nil if the engine maps its entries by itself
}

// kits are the engines of this program. It is fixed when the program starts.
var kits = map[Kind]kit{
	Wazero: {
		version:      wazero.Version,
		open:         func(cfg engine.Config) (engine.Engine, error) { return opened(wazero.Open(cfg)) },
		precompile:   wazero.Precompile,
		makeCacheDir: wazero.MakeCacheDir,
		fingerprint:  wazero.Fingerprint,
		test:         wazero.Test,
		nativeCode:   wazero.NativeCode,
		warm:         wazero.Warm,
	},
}

// opened avoids a nil engine that is not a nil interface.
func opened[T engine.Engine](e T, err error) (engine.Engine, error) {
	if err != nil {
		return nil, err
	}
	return e, nil
}

func (k Kind) kit() kit {
	if k == "" {
		k = Wazero
	}
	return kits[k]
}

// String returns the name and version of the engine.
func (k Kind) String() string {
	if k == "" {
		k = Wazero
	}
	return string(k) + " " + k.kit().version
}

// IsDefault reports whether k is the engine of programs in which none was chosen.
func (k Kind) IsDefault() bool { return k == "" || k == Wazero }

// Open makes the engine.
func (k Kind) Open(cfg engine.Config) (engine.Engine, error) { return k.kit().open(cfg) }

// Precompile writes the native code of a module to dir, as one file, as the engine finds it. dir must be an empty directory that
// MakeCacheDir has made.
func (k Kind) Precompile(ctx context.Context, dir string, binary []byte) error {
	return k.kit().precompile(ctx, dir, binary)
}

// MakeCacheDir makes the directories of a compilation cache, for processes that must not make any.
func (k Kind) MakeCacheDir(dir string) error { return k.kit().makeCacheDir(dir) }

// Fingerprint names all that native code depends on besides the module. dir must be an empty directory; Fingerprint may write to
// it.
func (k Kind) Fingerprint(ctx context.Context, dir string) (string, error) {
	return k.kit().fingerprint(ctx, dir)
}

// Test runs the engine's tests of itself, for [engine.Config.Tested]. It logs what fails.
func (k Kind) Test(logger *slog.Logger) engine.Tests { return k.kit().test(logger) }

// MapsCode reports whether the engine can map native code from a file of its own: see [engine.Config.Code].
func (k Kind) MapsCode() bool { return k.kit().nativeCode != nil }

// NativeCode returns the native code in a file that Precompile has made, or that claims to be one. MapsCode must be true.
func (k Kind) NativeCode(entry io.ReaderAt, size int64) (*io.SectionReader, error) {
	return k.kit().nativeCode(entry, size)
}

// ThreadStack returns how much address space the stack of a thread of this program takes beyond the usual, in bytes, whichever
// engine it runs.
func ThreadStack() (size uint64) {
	for _, k := range kits {
		size = max(size, k.threadStack)
	}
	return size
}

// Reservation returns how much address space the engine reserves for each memory, in bytes; zero if no more than the memory may have.
func (k Kind) Reservation() uint64 { return k.kit().reservation }

// Warm uses all engines of this program once, so that the first module of this process is ready earlier.
func Warm() {
	for _, kind := range All() {
		kits[kind].warm()
	}
}
