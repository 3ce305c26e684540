package wazero

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// Precompile writes the native code of a module to dir, as one file. [Engine.Compile] finds the file when it is moved, under
// its name, to the compilation cache. dir must be an empty directory, and private as [Config.CacheDir]. The error for a
// module that the engine does not accept is [abi.CodeModule]; any other error is about the directory.
//
// The module decides how much time and memory it takes, and ctx does not end it: run it with untrusted modules only in a
// process that can be killed.
func Precompile(ctx context.Context, dir string, binary []byte) error {
	if err := CheckCacheDir(dir); err != nil {
		return err
	}
	if err := precompile(ctx, dir, binary); err != nil {
		return err
	}
	stripped, err := wasm.StripCode(binary)
	if err != nil {
		return precompileError(err)
	}
	full, err := entries(dir)
	if err != nil {
		return err
	}
	if err := precompile(ctx, dir, stripped); err != nil {
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

// maxEntries bounds the entries of a directory that are read; a valid one has fewer.
const maxEntries = 16

// entries lists the compiled modules in a cache, at most maxEntries of each directory.
func entries(dir string) (found []string, err error) {
	folders, err := list(dir)
	for _, folder := range folders {
		files, err := list(folder)
		if err != nil {
			return nil, err
		}
		found = append(found, files...)
	}
	return found, err
}

// list returns the paths of at most maxEntries entries of a directory; none of a file.
func list(dir string) (paths []string, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.IsDir() {
		return nil, err
	}
	names, err := f.Readdirnames(maxEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths, nil
}

// MakeCacheDir makes the directories of a compilation cache, for processes that must not make any. dir is as for
// [Precompile].
func MakeCacheDir(dir string) error {
	if err := CheckCacheDir(dir); err != nil {
		return err
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return fmt.Errorf("compilation cache %s: %w", dir, err)
	}
	return cache.Close(context.Background())
}

// Entries returns the paths of the compiled modules in a cache; not all, when there are many.
func Entries(dir string) ([]string, error) {
	found, err := entries(dir)
	if err != nil {
		return nil, fmt.Errorf("compilation cache: %w", err)
	}
	return found, nil
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
	_, err = rt.CompileModule(experimental.WithCompilationWorkers(ctx, goruntime.GOMAXPROCS(0)), binary)
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

// CheckCacheDir makes dir if it does not exist, and refuses one that other users can write to.
func CheckCacheDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	if err := checkPrivate(dir); err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	return nil
}

// CheckDir is CheckCacheDir for a directory of other files than those of the engine: it does not look at what is in dir.
func CheckDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	if err := checkOwn(dir); err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	return nil
}

// Fingerprint names all that native code in a compilation cache depends on besides the module: the version and settings of
// the engine, the system, and the features of the processor. dir must be an empty directory; Fingerprint writes to it.
func Fingerprint(ctx context.Context, dir string) (string, error) {
	// wazero exports none of this, but the name of a cache entry depends on all of it; in tests, not on the version.
	empty := []byte("\x00asm\x01\x00\x00\x00")
	if err := CheckCacheDir(dir); err != nil {
		return "", err
	}
	if err := precompile(ctx, dir, empty); err != nil {
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
