// Package guesttest has guests for tests: the example providers, built from their sources, and a [Puppet].
//
// Only tests import it.
package guesttest

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/internal/sourcetree"
)

var (
	mu    sync.Mutex
	built = map[string]string{} // guarded by mu
)

// File returns the path of an example's module, built from its source as it is now. Test processes share it.
func File(tb testing.TB, example string) string {
	tb.Helper()
	mu.Lock()
	defer mu.Unlock()
	if file, ok := built[example]; ok {
		return file
	}
	var file string
	var err error
	if language := languageOf(example); language != "" {
		file, err = buildProject(tb, example, language)
	} else {
		file, err = Source(filepath.Join(source(), example))
	}
	if missing := (*project.Missing)(nil); errors.As(err, &missing) {
		Missing(tb, "%v", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	built[example] = file
	return file
}

// Binary returns an example's module.
func Binary(tb testing.TB, example string) []byte {
	tb.Helper()
	binary, err := os.ReadFile(File(tb, example))
	if err != nil {
		tb.Fatal(err)
	}
	return binary
}

// source is the folder of the examples.
func source() string { return filepath.Join(sourcetree.Root(), "examples", "wasm") }

// CacheDir is a folder in which tests share compiled modules.
func CacheDir(tb testing.TB) string {
	tb.Helper()
	dir, err := sharedDir("compiled")
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}
