//go:build wasmtime && cgo && linux && amd64

package wasmtime_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
	"github.com/wasmres/wasmres/runtime/internal/engine/wasmtime"
)

func TestEngine(t *testing.T) {
	enginetest.Test(t, func(t *testing.T, cfg engine.Config) engine.Engine {
		t.Helper()
		e, err := wasmtime.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		return e
	})
}

// The engine is pinned: each of its settings was chosen for the behaviour of this version.
func TestTheVersionIsTheOneThisPackageIsWrittenFor(t *testing.T) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		t.Fatal("no build info")
	}
	for _, dep := range info.Deps {
		if dep.Path == "github.com/bytecodealliance/wasmtime-go/v39" && dep.Version != wasmtime.Version {
			t.Errorf("linked with %s, written for %s: check every setting and comment of this package", dep.Version, wasmtime.Version)
		}
	}
}

func TestAnEngineThatHasFailedItsTestsIsNotUsed(t *testing.T) {
	if e, err := wasmtime.Open(engine.Config{Tested: &engine.Tests{}}); err == nil || !strings.Contains(err.Error(), "use the engine wazero") {
		t.Errorf("got %v, %v, want a refusal", e, err)
	}
}

// The declarations are this package's own, so that it builds without the headers. A mistake in them would corrupt memory.
func TestTheDeclarationsAreThoseOfTheLibrary(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler")
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/bytecodealliance/wasmtime-go/v39").Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "both.c")
	if err := os.WriteFile(file, []byte("#include <wasmtime.h>\n#include \"api.h\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	include := filepath.Join(strings.TrimSpace(string(out)), "build", "include")
	if out, err := exec.Command(cc, "-std=c11", "-fsyntax-only", "-I", include, "-I", ".", file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestADamagedFileOfTheCacheIsRefused(t *testing.T) {
	dir := t.TempDir()
	empty := []byte("\x00asm\x01\x00\x00\x00")
	if err := wasmtime.Precompile(t.Context(), dir, empty); err != nil {
		t.Fatal(err)
	}
	e, err := wasmtime.Open(engine.Config{Precompile: func(context.Context, []byte) (string, error) { return dir, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	m, err := e.Compile(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	file := filepath.Join(dir, "wasmtime-"+wasmtime.Version, "module")
	for _, text := range []string{"", "no code"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Compile(t.Context(), nil, nil); abi.CodeOf(err) != abi.CodeModule {
			t.Errorf("%q: got %v", text, err)
		}
	}
}
