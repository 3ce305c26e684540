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
	"github.com/wasmres/wasmres/runtime/wasm"
)

// Precompile leaves the native code of a module in dir, as the one file that [Engine.Compile] finds when it is moved, under
// its name, to the compilation cache. dir must be an empty folder, and private to this user as for [Config.CacheDir]. A
// module the engine does not accept is [abi.CodeModule]; any other error is about the folder.
//
// It takes as long, and as much memory, as the module wishes, and does not heed ctx: with a module nobody vouches for
// it belongs in a process that can be killed.
func Precompile(ctx context.Context, dir string, binary []byte) error {
	if err := CheckCacheDir(dir); err != nil {
		return err
	}
	if err := precompile(ctx, dir, binary); err != nil {
		return err
	}
	hollow, err := wasm.Hollow(binary)
	if err != nil {
		return precompileError(err)
	}
	full, err := entries(dir)
	if err != nil {
		return err
	}
	if err := precompile(ctx, dir, hollow); err != nil {
		return err
	}
	both, err := entries(dir)
	if err != nil {
		return err
	}
	name := slices.DeleteFunc(both, func(name string) bool { return slices.Contains(full, name) })
	if len(full) != 1 || len(name) != 1 {
		return fmt.Errorf("compilation cache %s: %d entries for one module, and then %d more", dir, len(full), len(name))
	}
	return os.Rename(full[0], name[0])
}

func entries(dir string) ([]string, error) { return filepath.Glob(filepath.Join(dir, "*", "*")) }

// precompile leaves the native code of a module under the name that this very module has.
func precompile(ctx context.Context, dir string, binary []byte) (err error) {
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return fmt.Errorf("compilation cache %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, cache.Close(ctx)) }()
	rt := wazero.NewRuntimeWithConfig(ctx, runtimeConfig().WithCompilationCache(cache))
	defer func() { err = errors.Join(err, rt.Close(ctx)) }()
	_, err = rt.CompileModule(experimental.WithCompilationWorkers(ctx, goruntime.GOMAXPROCS(0)), binary)
	return precompileError(err)
}

// form is how entries are named; see [Engine.Compile].
const form = "hollow"

// precompileError tells a folder that cannot be written to from a module that cannot be compiled.
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

// CheckCacheDir makes dir if there is none and refuses one in which somebody else could plant native code.
func CheckCacheDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	if err := checkPrivate(dir); err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	return nil
}

// Fingerprint names all that decides, the module aside, whether native code in a compilation cache is found by this
// process: the engine's version and settings, the system and the features of the processor. dir must be an empty
// folder; it is written to.
func Fingerprint(ctx context.Context, dir string) (string, error) {
	// wazero tells no part of this, but the name of a cache entry depends on all of it but, in tests, the version.
	empty := []byte("\x00asm\x01\x00\x00\x00")
	if err := Precompile(ctx, dir, empty); err != nil {
		return "", err
	}
	found, err := entries(dir)
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("compilation cache %s: %d entries for one module", dir, len(found))
	}
	name, err := filepath.Rel(dir, found[0])
	return Version + "/" + form + "/" + filepath.ToSlash(name), err
}
