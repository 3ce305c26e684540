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

// Precompile leaves the native code of a module in dir, as the one file that [Engine.Compile] finds when it is moved, under
// its name, to the compilation cache. dir must be an empty folder, and private to this user as for [Config.CacheDir]. A
// module the engine does not accept is [abi.CodeModule]; any other error is about the folder.
//
// It takes as long, and as much memory, as the module wishes, and ignores ctx: with a module that is not trusted
// it belongs in a process that can be killed.
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

// maxEntries is how many entries of a folder are looked at: more than there are where all is well.
const maxEntries = 16

// entries lists the compiled modules in a cache, as far as it takes to see that there is one, or more.
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

// list gives the paths of some of what is in a folder; a file is one without anything in it.
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

// MakeCacheDir makes the folders of a compilation cache, so that no process that fills it has to make one. dir is as for
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

// Entries gives the paths of the compiled modules in a cache: none, one, or where there are more, some.
func Entries(dir string) ([]string, error) {
	found, err := entries(dir)
	if err != nil {
		return nil, fmt.Errorf("compilation cache: %w", err)
	}
	return found, nil
}

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
const form = "without code, a folder each"

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

// CheckCacheDir makes dir if there is none and refuses one in which another user could plant native code.
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
