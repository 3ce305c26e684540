package guesttest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	guestsdk "github.com/wasmres/wasmres/guest-sdk"
)

// Python returns the path of a CPython that has these modules, as "pytest" or "mypy".
func Python(tb testing.TB, modules ...string) string {
	tb.Helper()
	check := "import sys; assert sys.version_info >= (3, 10)"
	for _, module := range modules {
		check += "; import " + module
	}
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		path, err := exec.LookPath(name)
		if err == nil && exec.Command(path, "-c", check).Run() == nil {
			return path
		}
	}
	Missing(tb, "no Python 3.10 with %v: install python3, python3-pytest and mypy", modules)
	return ""
}

// PythonPackage writes the package wasmres, as a project has it, into a new directory, which it returns.
func PythonPackage(tb testing.TB) (dir string) {
	tb.Helper()
	files, err := guestsdk.Files("python")
	if err != nil {
		tb.Fatal(err)
	}
	dir = tb.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, "wasmres", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// RunPython runs a Python program with the package wasmres in its path, and returns what it printed.
func RunPython(tb testing.TB, dir, python string, args ...string) (string, error) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), python, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s %v: %w\n%s", python, args, err, out)
	}
	return string(out), nil
}
