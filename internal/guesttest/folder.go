package guesttest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/fscap"
)

// Folder makes files, by path with slashes, and grants the folder as /project until the end of the test.
func Folder(tb testing.TB, files map[string]string) (dir string, granted capability.Services) {
	tb.Helper()
	dir = tb.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	fs, err := fscap.Open([]fscap.Grant{{Host: dir, Guest: "/project"}}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := fs.Close(); err != nil {
			tb.Error(err)
		}
	})
	return dir, fs.Services()
}
