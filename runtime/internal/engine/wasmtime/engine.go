//go:build wasmtime && cgo && linux && amd64

package wasmtime

// #cgo CFLAGS: -std=c11
// #cgo noescape read_global
// #cgo nocallback read_global
// #cgo noescape write_global
// #cgo nocallback write_global
// #include <stdlib.h>
// #include "sandbox.h"
import "C"

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"

	_ "github.com/bytecodealliance/wasmtime-go/v39" // the library of C

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/codedir"
)

// Version is the version of wasmtime-go that this package is written for and tested with.
const Version = "v39.0.1"

// ThreadStack is how much address space the stack of each thread reserves, in bytes.
const ThreadStack = 48 << 20

// An Engine is wasmtime with Cranelift.
type Engine struct {
	ptr        *C.wasm_engine_t
	guards     bool
	dir        string
	precompile func(ctx context.Context, binary []byte) (dir string, err error)
}

// Open makes an Engine, and tests that wasmtime behaves as this package relies on. It fails if wasmtime does not.
func Open(cfg engine.Config) (*Engine, error) { return open(cfg, false) }

// OpenGuarded is Open for an Engine whose code leaves it to the processor to check addresses: see [engine.Reserver]. It handles the
// signals of faults in code of guests for the whole process, so it is for processes that run the guests of one module alone.
func OpenGuarded(cfg engine.Config) (*Engine, error) { return open(cfg, true) }

func open(cfg engine.Config, guards bool) (*Engine, error) {
	if cfg.CacheDir != "" {
		if err := MakeCacheDir(cfg.CacheDir); err != nil {
			return nil, err
		}
	}
	if err := tested(cfg.Tested); err != nil {
		return nil, fmt.Errorf("wasmtime %s does not work as expected: use the engine wazero: %w", Version, err)
	}
	e, err := newEngine(guards)
	if err != nil {
		return nil, err
	}
	e.dir, e.precompile = cfg.CacheDir, cfg.Precompile
	return e, nil
}

// tested returns the error of the tests of another process, or of those that it runs now.
func tested(elsewhere *engine.Tests) error {
	switch {
	case elsewhere == nil:
		return selfTest()
	case !elsewhere.Resizes:
		return errors.New("it has failed the tests of the parent, whose log says more")
	}
	return nil
}

// Test runs the tests of Open, for [engine.Config.Tested]. It logs what fails.
func Test(logger *slog.Logger) engine.Tests {
	err := selfTest()
	if err != nil {
		logger.Error("wasmtime does not work as expected: use the engine wazero", "wasmtime", Version, "err", err)
	}
	return engine.Tests{Resizes: err == nil}
}

func newEngine(guards bool) (*Engine, error) {
	ptr := C.new_engine(C.stack_bytes(), C.bool(guards))
	if ptr == nil {
		return nil, errors.New("wasmtime: the engine cannot be made")
	}
	return &Engine{ptr: ptr, guards: guards}, nil
}

// Close implements [engine.Engine].
func (e *Engine) Close() error {
	if e.ptr != nil {
		C.wasm_engine_delete(e.ptr)
		e.ptr = nil
	}
	return nil
}

// Compile implements [engine.Engine]. binary may be the module without code if the cache has the native code.
func (e *Engine) Compile(ctx context.Context, binary []byte, host []engine.HostFunc) (engine.Module, error) {
	code, err := e.load(ctx, binary)
	if err != nil {
		return nil, err
	}
	m, err := e.link(code, host)
	if err != nil {
		C.wasmtime_module_delete(code)
		return nil, err
	}
	return m, nil
}

// load loads native code from the cache, and compiles it if there is none.
func (e *Engine) load(ctx context.Context, binary []byte) (*C.wasmtime_module_t, error) {
	if e.precompile != nil {
		dir, err := e.precompile(ctx, binary)
		if err != nil {
			return nil, err
		}
		return e.deserialize(filepath.Join(dir, folder, codeFile))
	}
	if e.dir == "" {
		return e.compile(binary)
	}
	if file := filepath.Join(e.dir, folder, codeFile); exists(file) {
		return e.deserialize(file)
	}
	file := filepath.Join(e.dir, folder, fmt.Sprintf("%x", sha256.Sum256(binary)))
	if exists(file) {
		if m, err := e.deserialize(file); err == nil {
			return m, nil
		}
	}
	m, err := e.compile(binary)
	if err != nil {
		return nil, err
	}
	if err := store(m, file); err != nil {
		C.wasmtime_module_delete(m)
		return nil, err
	}
	return m, nil
}

func exists(file string) bool {
	info, err := os.Lstat(file)
	return err == nil && info.Mode().IsRegular()
}

func (e *Engine) compile(binary []byte) (m *C.wasmtime_module_t, err error) {
	if len(binary) == 0 {
		return nil, abi.Errorf(abi.CodeModule, "the module is empty")
	}
	failed := C.wasmtime_module_new(e.ptr, (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(binary))), C.size_t(len(binary)), &m)
	if err := take(failed); err != nil {
		return nil, abi.Errorf(abi.CodeModule, "not a WebAssembly module this engine accepts").Because(err)
	}
	return m, nil
}

// deserialize copies native code into memory of the engine, which makes it executable. It trusts the file: see [codedir]. No
// descriptor of the file stays open, as one would if wasmtime read the file itself: the worker must have none.
func (e *Engine) deserialize(file string) (m *C.wasmtime_module_t, err error) {
	code, err := mapFile(file)
	if err != nil {
		return nil, abi.Errorf(abi.CodeModule, "the compiled module is missing from the cache").Because(err)
	}
	defer syscall.Munmap(code)
	failed := C.wasmtime_module_deserialize(e.ptr, (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(code))), C.size_t(len(code)), &m)
	if err := take(failed); err != nil {
		return nil, abi.Errorf(abi.CodeModule, "the compiled module in the cache is not of this engine").Because(err)
	}
	return m, nil
}

// maxCode bounds a file of native code, in bytes.
const maxCode = 1 << 30

// mapFile returns the bytes of a file, which the caller unmaps.
func mapFile(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > maxCode {
		return nil, fmt.Errorf("%s is a %v of %d bytes", file, info.Mode(), info.Size())
	}
	return syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
}

// take returns the error that C gives, which it releases; nil for none.
func take(failed *C.wasmtime_error_t) error {
	if failed == nil {
		return nil
	}
	var message C.wasm_name_t
	C.wasmtime_error_message(failed, &message)
	C.wasmtime_error_delete(failed)
	return errors.New(takeText(&message))
}

// maxText bounds a text of the library, in bytes.
const maxText = 4 << 10

// takeText returns a text that C gives, which it releases.
func takeText(text *C.wasm_byte_vec_t) string {
	defer C.wasm_byte_vec_delete(text)
	n := min(int(text.size), maxText)
	for n > 0 && *(*byte)(unsafe.Add(unsafe.Pointer(text.data), n-1)) == 0 {
		n--
	}
	return C.GoStringN(text.data, C.int(n))
}

// MakeCacheDir makes the directories of a compilation cache, for processes that must not make any.
func MakeCacheDir(dir string) error {
	if err := codedir.Check(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	return codedir.Check(dir)
}
