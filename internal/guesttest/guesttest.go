// Package guesttest has guests for tests: the example providers, built from their sources, and a [Puppet].
//
// Only tests import it.
package guesttest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/internal/project"
)

var (
	mu    sync.Mutex
	built = map[string]string{} // guarded by mu
)

// File gives the path of an example's module, built from its source as it is now.
func File(tb testing.TB, example string) string {
	tb.Helper()
	mu.Lock()
	defer mu.Unlock()
	if file, ok := built[example]; ok {
		return file
	}
	make := build
	if language := languageOf(example); language != "" {
		make = func(example string) (string, error) { return buildProject(tb, example, language) }
	}
	file, err := make(example)
	if missing := (*project.Missing)(nil); errors.As(err, &missing) {
		Missing(tb, "%v", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	built[example] = file
	return file
}

// Binary gives an example's module.
func Binary(tb testing.TB, example string) []byte {
	tb.Helper()
	binary, err := os.ReadFile(File(tb, example))
	if err != nil {
		tb.Fatal(err)
	}
	return binary
}

// build leaves its result in the user's cache folder, so that the tests of several packages share the linking.
func build(example string) (string, error) {
	dir, err := buildDir()
	if err != nil {
		return "", err
	}
	scratch, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(scratch, "out.wasm"), "./"+example)
	cmd.Dir = source()
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build example %s: %w\n%s", example, err, out)
	}
	file := filepath.Join(dir, example+".wasm")
	return file, os.Rename(filepath.Join(scratch, "out.wasm"), file)
}

// buildDir is the folder for what is built.
func buildDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	dir := filepath.Join(base, "wasmres-tests")
	return dir, os.MkdirAll(dir, 0o700)
}

// source is the folder of the examples.
func source() string { return filepath.Join(root(), "examples", "wasm") }

// root is the folder of the root module.
func root() string {
	_, here, _, _ := goruntime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..")
}

// CacheDir is a folder in which tests share compiled modules.
func CacheDir(tb testing.TB) string {
	tb.Helper()
	base, err := os.UserCacheDir()
	if err != nil {
		return tb.TempDir()
	}
	return filepath.Join(base, "wasmres-tests", "compiled")
}
