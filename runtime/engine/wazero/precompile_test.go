package wazero_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/engine/wazero"
)

// cacheEntries lists the compiled modules in a cache folder.
func cacheEntries(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := filepath.Glob(filepath.Join(dir, "wazero-*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestWhatIsPrecompiledIsWhatTheEngineLooksFor(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	e, err := wazero.Open(wazero.Config{CacheDir: dir}) // may compile something of its own
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	before := cacheEntries(t, dir)
	binary := []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x04\x01\x02\x00\x0b") // (func)
	if err := wazero.Precompile(t.Context(), dir, binary); err != nil {
		t.Fatal(err)
	}
	precompiled := cacheEntries(t, dir)
	if len(precompiled) != len(before)+1 {
		t.Fatalf("got %d cache entries, want one more than %d", len(precompiled), len(before))
	}
	m, err := e.Compile(t.Context(), binary, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if diff := cmp.Diff(precompiled, cacheEntries(t, dir)); diff != "" {
		t.Errorf("the engine compiled again (-precompiled +afterwards):\n%s", diff)
	}
}

func TestPrecompileTellsABadModuleFromABadFolder(t *testing.T) {
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
		"not a module":   {filepath.Join(t.TempDir(), "new"), "MZ", "not a WebAssembly module", abi.CodeModule},
		"shared folder":  {shared, empty, "private to you", abi.CodeInternal},
		"folder no more": {blocked, empty, "compilation cache", abi.CodeInternal},
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
