//go:build wasmtime && cgo && linux && amd64

package wasmtime

// #include "sandbox.h"
import "C"

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"
)

const (
	// folder is where native code is in a compilation cache.
	folder = "wasmtime-" + Version
	// codeFile has the native code of the only module of a cache.
	codeFile = "module"
)

// Precompile writes the native code of a module to dir, as one file. [Engine.Compile] finds the file when it is moved, under
// its name, to the compilation cache. dir must be an empty directory, and private as [engine.Config.CacheDir]. The error for a
// module that the engine does not accept is [abi.CodeModule]; any other error is about the directory.
//
// The module decides how much time and memory it takes, and ctx does not end it: run it with untrusted modules only in a
// process that can be killed.
func Precompile(_ context.Context, dir string, binary []byte) error {
	return precompile(dir, binary, false)
}

// PrecompileGuarded is Precompile for [OpenGuarded].
func PrecompileGuarded(_ context.Context, dir string, binary []byte) error {
	return precompile(dir, binary, true)
}

func precompile(dir string, binary []byte, guards bool) error {
	if err := MakeCacheDir(dir); err != nil {
		return err
	}
	e, err := newEngine(guards)
	if err != nil {
		return err
	}
	defer e.Close()
	m, err := e.compile(binary)
	if err != nil {
		return err
	}
	defer C.wasmtime_module_delete(m)
	return store(m, filepath.Join(dir, folder, codeFile))
}

// store writes native code to a file, which appears complete.
func store(m *C.wasmtime_module_t, file string) error {
	code, err := serialize(m)
	if err != nil {
		return err
	}
	defer C.wasm_byte_vec_delete(&code)
	scratch := fmt.Sprintf("%s.%d", file, os.Getpid())
	if err := os.WriteFile(scratch, unsafe.Slice((*byte)(unsafe.Pointer(code.data)), int(code.size)), 0o600); err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	if err := os.Rename(scratch, file); err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	return nil
}

// serialize returns the native code of a module, which the caller releases.
func serialize(m *C.wasmtime_module_t) (code C.wasm_byte_vec_t, err error) {
	if err := take(C.wasmtime_module_serialize(m, &code)); err != nil {
		return code, fmt.Errorf("serialize a module: %w", err)
	}
	return code, nil
}

// Fingerprint names all that native code in a compilation cache depends on besides the module: the version and settings of
// the engine, the system, and the features of the processor. They are in the native code of each module.
func Fingerprint(context.Context, string) (string, error) {
	e, err := newEngine(false)
	if err != nil {
		return "", err
	}
	defer e.Close()
	m, err := e.compile([]byte("\x00asm\x01\x00\x00\x00"))
	if err != nil {
		return "", err
	}
	defer C.wasmtime_module_delete(m)
	code, err := serialize(m)
	if err != nil {
		return "", err
	}
	defer C.wasm_byte_vec_delete(&code)
	digest := sha256.Sum256(unsafe.Slice((*byte)(unsafe.Pointer(code.data)), int(code.size)))
	return fmt.Sprintf("wasmtime %s/%x", Version, digest), nil
}

// FingerprintGuarded is Fingerprint for [OpenGuarded]. It makes no such engine, so that the signals of this process stay Go's.
func FingerprintGuarded(ctx context.Context, dir string) (string, error) {
	text, err := Fingerprint(ctx, dir)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, guards after %d and %d bytes", text, indexSpan, offsetSpan), nil
}
