package wazero

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine/codedir"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// Precompile writes the native code of a module to dir, as one file. [Engine.Compile] finds the file when it is moved, under
// its name, to the compilation cache. dir must be an empty directory, and private as [engine.Config.CacheDir]. The error for a
// module that the engine does not accept is [abi.CodeModule]; any other error is about the directory.
//
// The module decides how much time and memory it takes, and ctx does not end it: run it with untrusted modules only in a
// process that can be killed.
func Precompile(ctx context.Context, dir string, binary []byte) error {
	if err := codedir.Check(dir); err != nil {
		return err
	}
	if err := precompile(ctx, dir, binary); err != nil {
		return err
	}
	stripped, err := wasm.StripCode(binary)
	if err != nil {
		return precompileError(err)
	}
	full, err := codedir.List(dir)
	if err != nil {
		return err
	}
	if err := precompile(ctx, dir, stripped); err != nil {
		return err
	}
	both, err := codedir.List(dir)
	if err != nil {
		return err
	}
	name := slices.DeleteFunc(both, func(name string) bool { return slices.Contains(full, name) })
	if len(full) != 1 || len(name) != 1 {
		return fmt.Errorf("compilation cache %s: %d entries for one module, and then %d more", dir, len(full), len(name))
	}
	return os.Rename(full[0], name[0])
}

// MakeCacheDir makes the directories of a compilation cache, for processes that must not make any. dir is as for
// [Precompile].
func MakeCacheDir(dir string) error {
	if err := codedir.Check(dir); err != nil {
		return err
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return fmt.Errorf("compilation cache %s: %w", dir, err)
	}
	return cache.Close(context.Background())
}

// precompile writes the native code of a module, under the name of that module.
func precompile(ctx context.Context, dir string, binary []byte) (err error) {
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return fmt.Errorf("compilation cache %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, cache.Close(ctx)) }()
	rt := wazero.NewRuntimeWithConfig(ctx, runtimeConfig().WithCompilationCache(cache))
	defer func() { err = errors.Join(err, rt.Close(ctx)) }()
	if _, err = rt.CompileModule(experimental.WithCompilationWorkers(ctx, goruntime.GOMAXPROCS(0)), binary); err != nil && ctx.Err() != nil {
		return stopped(ctx)
	}
	return precompileError(err)
}

// form is the kind of names of entries; see [Engine.Compile].
const form = "without code, a folder each"

// precompileError distinguishes a directory that cannot be written from a module that cannot be compiled.
func precompileError(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &path), errors.As(err, &link):
		return fmt.Errorf("compilation cache: %w", err)
	}
	return abi.Errorf(abi.CodeModule, "not a WebAssembly module this engine accepts").Because(err)
}

// Fingerprint names all that native code in a compilation cache depends on besides the module: the version and settings of
// the engine, the system, and the features of the processor. dir must be an empty directory; Fingerprint writes to it.
func Fingerprint(ctx context.Context, dir string) (string, error) {
	// wazero exports none of this, but the name of a cache entry depends on all of it; in tests, not on the version.
	empty := []byte("\x00asm\x01\x00\x00\x00")
	if err := codedir.Check(dir); err != nil {
		return "", err
	}
	if err := precompile(ctx, dir, empty); err != nil {
		return "", err
	}
	found, err := codedir.List(dir)
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("compilation cache %s: %d entries for one module", dir, len(found))
	}
	name, err := filepath.Rel(dir, found[0])
	return Version + "/" + form + "/" + filepath.ToSlash(name), err
}
