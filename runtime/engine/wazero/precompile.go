package wazero

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wasmres/wasmres/abi"
)

// Precompile leaves the native code of a module in the compilation cache dir, where [Engine.Compile] finds it. dir must
// be private to this user, as for [Config.CacheDir]. A module the engine does not accept is [abi.CodeModule]; any other
// error is about the folder.
//
// It takes as long, and as much memory, as the module wishes, and does not heed ctx: with a module nobody vouches for
// it belongs in a process that can be killed.
func Precompile(ctx context.Context, dir string, binary []byte) (err error) {
	if err := CheckCacheDir(dir); err != nil {
		return err
	}
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
	entries, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		return "", err
	}
	if len(entries) != 1 {
		return "", fmt.Errorf("compilation cache %s: %d entries for one module", dir, len(entries))
	}
	name, err := filepath.Rel(dir, entries[0])
	return Version + "/" + filepath.ToSlash(name), err
}
