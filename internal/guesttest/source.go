package guesttest

import (
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/wasmres/wasmres/internal/sourcetree"
)

// examplesModule is the path of the module of the examples; sdkModule is that of the SDK.
const (
	examplesModule = "github.com/wasmres/wasmres/examples/wasm"
	sdkModule      = "github.com/wasmres/wasmres/guest-sdk/go"
)

// Source returns the path of the module of a Go program: the package in dir, or the one file that dir is. The program
// may import what the examples may import.
func Source(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	name := strings.TrimSuffix(filepath.Base(dir), ".go")
	r := newRecipe()
	r.add("flags", []byte(os.Getenv("GOFLAGS")))
	for _, file := range []string{"go.mod", "go.sum"} {
		r.addFile(filepath.Join(source(), file))
	}
	if strings.HasSuffix(dir, ".go") {
		r.addFile(dir)
		r.addPackage(filepath.Join(sourcetree.Root(), "guest-sdk", "go"), map[string]bool{})
	} else {
		r.addPackage(dir, map[string]bool{})
	}
	return shared(name+".wasm", r, func(file string) error { return buildGo(file, dir) })
}

// buildGo builds a Go program for WebAssembly.
func buildGo(file, program string) error {
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", file, program)
	cmd.Dir = source() // where the SDK is known
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", program, err, out)
	}
	return nil
}

// addPackage adds the files of a Go package, and of those it imports that are in this repository: go.sum tells the others.
func (r *recipe) addPackage(dir string, seen map[string]bool) {
	if seen[dir] {
		return
	}
	seen[dir] = true
	target := build.Default
	target.GOOS, target.GOARCH, target.CgoEnabled = "wasip1", "wasm", false
	p, err := target.ImportDir(dir, 0)
	if err != nil {
		r.err = err
		return
	}
	for _, file := range p.GoFiles {
		r.addFile(filepath.Join(dir, file))
	}
	for _, imported := range p.Imports {
		if local, ok := strings.CutPrefix(imported, examplesModule); ok {
			r.addPackage(filepath.Join(source(), filepath.FromSlash(local)), seen)
		}
		if local, ok := strings.CutPrefix(imported, sdkModule); ok {
			r.addPackage(filepath.Join(sourcetree.Root(), "guest-sdk", "go", filepath.FromSlash(local)), seen)
		}
	}
}
