package guestsdk

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/wasm"
)

// The engine that is carried is the one that make left, and the glue beside it is that it was made from.
func TestPythonEngineIsCurrent(t *testing.T) {
	const dir = "python/engine"
	engine := PythonEngine()
	digest, err := os.ReadFile(dir + "/engine.sha256")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%x  engine.wasm\n", sha256.Sum256(engine.Module)); string(digest) != want {
		t.Errorf("engine.sha256: got %q, want %q", digest, want)
	}
	origin, err := wasm.Custom(engine.Module, "wasmres.engine")
	if err != nil || origin == nil {
		t.Fatalf("the engine does not say what it was made from: %v", err)
	}
	var names []string
	for _, pattern := range []string{"*.c", "*.h", "*.s", "*.py", "include/*.h", "unwind/main.go", "*.patch", "Makefile"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%d files %s: %v", len(found), pattern, err)
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	var list bytes.Buffer
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(text), strings.TrimPrefix(name, dir+"/"))
	}
	want := fmt.Sprintf("%s, commit 1c3c201149f37fe8d81246191b3127bb198d6306\nglue sha256:%x\n\nThe MIT License",
		engine.Version, sha256.Sum256(list.Bytes()))
	if !strings.HasPrefix(string(origin), want) {
		t.Errorf("engine.wasm was made from other files: run make in guest-sdk/%s\ngot  %.200s\nwant %s", dir, origin, want)
	}
}

// Every module of the SDK is carried, under the path that the others import it by.
func TestPythonModules(t *testing.T) {
	modules := PythonEngine().Modules
	for name, text := range sources(t, "python/lib", func(string) bool { return true }) {
		if modules[name] != text {
			t.Errorf("%s is not carried as it is", name)
		}
		delete(modules, name)
	}
	if len(modules) > 0 {
		t.Errorf("more is carried: %d modules", len(modules))
	}
}
