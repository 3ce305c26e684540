package wazero_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
	"github.com/wasmres/wasmres/runtime/internal/snapshot"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// cacheEntries lists the compiled modules in a cache.
func cacheEntries(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := filepath.Glob(filepath.Join(dir, "wazero-*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// first exports f, which has one byte of code more than that of second; otherwise they are equal.
const (
	first  = "\x00asm\x01\x00\x00\x00\x01\x05\x01\x60\x00\x01\x7f\x03\x02\x01\x00\x05\x03\x01\x00\x01\x07\x05\x01\x01f\x00\x00\x0a\x06\x01\x04\x00\x41\x01\x0b"
	second = "\x00asm\x01\x00\x00\x00\x01\x05\x01\x60\x00\x01\x7f\x03\x02\x01\x00\x05\x03\x01\x00\x01\x07\x05\x01\x01f\x00\x00\x0a\x06\x01\x04\x00\x41\x02\x0b"
)

func TestTheEngineFindsPrecompiledModules(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	for _, binary := range []string{first, second} {
		scratch := t.TempDir()
		if err := os.Chmod(scratch, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := wazero.Precompile(t.Context(), scratch, []byte(binary)); err != nil {
			t.Fatal(err)
		}
		left := cacheEntries(t, scratch)
		if len(left) != 1 {
			t.Fatalf("got %d cache entries, want 1", len(left))
		}
		into := filepath.Join(dir, filepath.Base(filepath.Dir(left[0])))
		if err := os.MkdirAll(into, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(left[0], filepath.Join(into, filepath.Base(left[0]))); err != nil {
			t.Fatal(err)
		}
	}
	precompiled := cacheEntries(t, dir)
	done := func(context.Context, []byte) (string, error) { return dir, nil }
	e, err := wazero.Open(engine.Config{CacheDir: dir, Precompile: done})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for want, binary := range []string{first, second} {
		if got := callF(t, e, []byte(binary)); got != uint64(want+1) {
			t.Errorf("module %d gives %d", want+1, got)
		}
	}
	if diff := cmp.Diff(precompiled, cacheEntries(t, dir)); diff != "" {
		t.Errorf("the engine compiled again (-precompiled +afterwards):\n%s", diff)
	}
}

func callF(t *testing.T, e *wazero.Engine, binary []byte) uint64 {
	t.Helper()
	m, err := e.Compile(t.Context(), binary, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	return callModule(t, m)
}

// stripped returns a module without its code.
func stripped(t *testing.T, binary string) []byte {
	t.Helper()
	b, err := wasm.StripCode([]byte(binary))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func callModule(t *testing.T, m engine.Module) uint64 {
	t.Helper()
	memory, err := snapshot.Blank(1<<20, 0)
	if err != nil {
		t.Fatal(err)
	}
	inst, err := m.Instantiate(t.Context(), nil, memory)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { inst.Close(); memory.Release() }()
	stack := []uint64{0}
	if err := inst.Call(t.Context(), "f", stack); err != nil {
		t.Fatal(err)
	}
	return stack[0]
}

func TestPrecompileDistinguishesABadModuleFromABadDir(t *testing.T) {
	shared := t.TempDir()
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	empty := "\x00asm\x01\x00\x00\x00"
	for name, tt := range map[string]struct {
		dir, module, message string
		code                 abi.Code
	}{
		"not a module":     {filepath.Join(t.TempDir(), "new"), "MZ", "not a WebAssembly module", abi.CodeModule},
		"shared directory": {shared, empty, "private directory", abi.CodeInternal},
		"not a directory":  {blocked, empty, "compilation cache", abi.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			err := wazero.Precompile(t.Context(), tt.dir, []byte(tt.module))
			if abi.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.message) {
				t.Errorf("got %v (%v), want %v: … %s …", err, abi.CodeOf(err), tt.code, tt.message)
			}
		})
	}
}

func TestTheFingerprintIsOneOfThisProcess(t *testing.T) {
	first, err := wazero.Fingerprint(t.Context(), filepath.Join(t.TempDir(), "a"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := wazero.Fingerprint(t.Context(), filepath.Join(t.TempDir(), "b"))
	if err != nil || first != second || !strings.Contains(first, wazero.Version) {
		t.Errorf("got %q, then %q, %v", first, second, err)
	}
}
