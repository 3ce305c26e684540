package project_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/project"
)

// A project in C chooses wasi-libc in its compile_flags.txt.
func TestBuildWithLibc(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a guest")
	}
	dir := filepath.Join(t.TempDir(), "notes")
	if err := project.Create(dir, project.C, "v1"); err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(dir, "provider.c"))
	if err != nil {
		t.Fatal(err)
	}
	second := "#include <stdlib.h>\nint number(void) { return atoi(\"7\"); }\n"
	for name, text := range map[string]string{
		"compile_flags.txt": "--target=wasm32-wasi\n-O2\n\n-Iwasmres\n",
		"provider.c":        string(source) + "int number(void);\nWASMRES_WARM { if (number() != 7) __builtin_trap(); }\n",
		"second.c":          second,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, err := project.Build(t.Context(), dir, project.C, project.Options{})
	var missing *project.Missing
	if errors.As(err, &missing) {
		guesttest.Missing(t, "%v", err)
	}
	var failed *project.Failed
	if errors.As(err, &failed) {
		t.Fatalf("%v\n%s", err, failed.Output)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, export := range []string{"_initialize", "wasmres_v1"} {
		if !bytes.Contains(m.Binary, []byte(export)) {
			t.Errorf("the module has no %s", export)
		}
	}
}
