package preinit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/codedir"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
	"github.com/wasmres/wasmres/runtime/internal/instance"
	"github.com/wasmres/wasmres/runtime/internal/meter"
	"github.com/wasmres/wasmres/runtime/internal/module"
	"github.com/wasmres/wasmres/runtime/limits"
)

// Bounds of an initialisation.
const (
	maxMemory = limits.DefaultMemory // bytes
	maxStack  = limits.DefaultStack
	maxTime   = 30 * time.Second // of the function
	fuelSlice = 10_000_000       // units between two looks at the clock
)

// A Function is the export that initialises a module: (input_len i32) -> (code i32). It takes its input as an operation
// takes its request, and may log. If it fails it emits an Error. Any other call of the host ends the initialisation.
type Function struct {
	Export string
	Input  []byte
	Log    func(text string) // what the function logs; nil discards it
}

// A Failure is the error that the function itself emitted.
type Failure struct {
	Code    abi.Code
	Message string
}

func (e *Failure) Error() string { return e.Message }

// A Cache keeps what Run makes of a module before the function runs, for the next Run: most of the time, for a large module.
type Cache struct {
	// Dir is a private directory of compiled modules, which others may share. With one, main calls runtime.Main first: modules are
	// compiled in child processes. If it is empty or cannot be used, Run keeps nothing and compiles in this process.
	Dir string
	// MaxBytes bounds Dir, in bytes. Zero means 2 GiB.
	MaxBytes int64
}

// open returns the compiler that uses the cache; nil if there is none.
func (c Cache) open() *compiler.Compiler {
	if c.Dir == "" || codedir.CheckOwn(c.Dir) != nil {
		return nil
	}
	compiling, err := compiler.New(compiler.Config{CacheDir: c.Dir, MaxBytes: c.MaxBytes})
	if err != nil {
		return nil
	}
	return compiling
}

// Run returns a copy of a module that starts with the memory and the globals that the function leaves, and has no export
// of it. The same module and input give the same bytes. The function runs in this process, within the limits of a
// provider; ctx ends it, and bounds the compilation if there is no cache. The error is a [*Failure] if the function has failed by itself.
//
// The module must be a provider without a start function, and all its data segments must be active.
func Run(ctx context.Context, binary []byte, f Function, cache Cache) (_ []byte, err error) {
	if err := checkSegments(binary); err != nil {
		return nil, err
	}
	cfg, native := config(), engine.Config{Tested: &engine.Tests{}}
	if c := cache.open(); c != nil {
		cfg.Cache, native.Precompile = c, c.Folder
	}
	m, err := module.Instrument(cfg, binary)
	if err != nil {
		return nil, err
	}
	if m.Code.Start {
		return nil, errors.New("the module has a start function, which would run again")
	}
	e, err := wazero.Open(native)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	s, err := initialize(ctx, e, m.Code, f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Export, err)
	}
	return s.write(binary, f.Export)
}

func config() *module.Config {
	return &module.Config{Pages: maxMemory / engine.PageSize, Table: limits.DefaultTable, Imports: instance.Imports()}
}

// initialize runs the function in an instance of its own, and gives what it leaves.
func initialize(ctx context.Context, e engine.Engine, code *meter.Module, f Function) (_ *state, err error) {
	compiled, err := e.Compile(ctx, code.Binary, hostFuncs())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, compiled.Close()) }()
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, fmt.Errorf("it has taken longer than %v", maxTime))
	defer cancel()
	mem := &memory{}
	r := &run{ctx: ctx, Function: f}
	inst, err := compiled.Instantiate(ctx, r, mem)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, inst.Close()) }()
	for i, segment := range code.Data {
		if !inst.Memory().Write(segment.Offset, segment.Bytes) {
			return nil, fmt.Errorf("data segment %d does not fit the memory", i)
		}
	}
	if err := r.call(inst); err != nil {
		return nil, err
	}
	if inst.Global(meter.ExportDirty).Get() != 0 {
		return nil, fmt.Errorf("it has changed state that no module holds: %s", code.CanDirty)
	}
	s := &state{memory: mem.bytes}
	for _, name := range code.Globals {
		s.globals = append(s.globals, inst.Global(name).Get())
	}
	return s, nil
}

// A memory is a linear memory of at most maxMemory bytes.
type memory struct{ bytes []byte }

// Reallocate implements [engine.LinearMemory].
func (m *memory) Reallocate(size uint64) []byte {
	if size > maxMemory {
		return nil
	}
	fresh := make([]byte, size)
	copy(fresh, m.bytes)
	m.bytes = fresh
	return fresh
}

// Free implements [engine.LinearMemory].
func (m *memory) Free() {}
