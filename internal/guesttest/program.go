package guesttest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/wasmres/wasmres/internal/sourcetree"
)

// Program returns the path of wasmres in a new directory in which nothing else is. It is the program that make build makes of the
// sources, whatever the test is built with.
func Program(tb testing.TB) string {
	tb.Helper()
	built, err := program()
	if err != nil {
		tb.Fatal(err)
	}
	linked := filepath.Join(tb.TempDir(), "wasmres")
	if os.Link(built, linked) == nil {
		return linked
	}
	text, err := os.ReadFile(built) // which is in another file system
	if err == nil {
		err = os.WriteFile(linked, text, 0o700)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return linked
}

// program builds wasmres once for each test process. The program of a source tree stays in the folder that all test processes
// share, where the go command does not link it again as long as the sources are the same.
var program = sync.OnceValues(func() (file string, err error) {
	all, err := sharedDir("guests")
	if err != nil {
		return "", err
	}
	sweep(all)
	tree := sha256.Sum256([]byte(sourcetree.Root()))
	dir := filepath.Join(all, "program-"+hex.EncodeToString(tree[:12]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(dir, lockName)).Lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	file = filepath.Join(dir, "wasmres")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "urfave_cli_no_docs", "-o", file, "./cmd/wasmres")
	cmd.Dir = sourcetree.Root()
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build wasmres: %w\n%s", err, out)
	}
	if !isThere(file) {
		return "", fmt.Errorf("there is no %s, although go build made it", file)
	}
	return file, nil
})
