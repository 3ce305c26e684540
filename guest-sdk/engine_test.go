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

// The engines that are carried are those that make left, and the glue beside them is that they were made from.
func TestEnginesAreCurrent(t *testing.T) {
	for _, tt := range []struct {
		dir, commit, licence string
		engine               Engine
		glue                 []string
	}{
		{"javascript/engine", "1ab8676f4b6d6d669baeb5f21790fb9734636a20", "", JavaScriptEngine(), nil},
		{"python/engine", "1c3c201149f37fe8d81246191b3127bb198d6306", "The MIT License", PythonEngine(),
			[]string{"*.py", "include/*.h", "unwind/main.go", "*.patch"}},
	} {
		digest, err := os.ReadFile(tt.dir + "/engine.sha256")
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("%x  engine.wasm\n", sha256.Sum256(tt.engine.Module)); string(digest) != want {
			t.Errorf("%s/engine.sha256: got %q, want %q", tt.dir, digest, want)
		}
		origin, err := wasm.Custom(tt.engine.Module, "wasmres.engine")
		if err != nil || origin == nil {
			t.Fatalf("%s does not say what it was made from: %v", tt.dir, err)
		}
		if tt.licence == "" {
			text, err := os.ReadFile(tt.dir + "/LICENSE")
			if err != nil {
				t.Fatal(err)
			}
			tt.licence = string(text)
		}
		glue := append(tt.glue, "*.c", "*.h", "*.s", "../../engine/*.[ch]", "Makefile")
		want := fmt.Sprintf("%s, commit %s\nglue sha256:%s\n\n%s", tt.engine.Version, tt.commit, glueDigest(t, tt.dir, glue), tt.licence)
		if !strings.HasPrefix(string(origin), want) {
			t.Errorf("engine.wasm was made from other files: run make in guest-sdk/%s\ngot  %.200s\nwant %.200s",
				tt.dir, origin, want)
		}
	}
}

// glueDigest returns the digest of what sha256sum says of the files of an engine, as its Makefile makes it.
func glueDigest(t *testing.T, dir string, patterns []string) string {
	t.Helper()
	var names []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(dir + "/" + pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files %s: %v", dir, len(found), pattern, err)
		}
		for _, file := range found {
			name, err := filepath.Rel(dir, file)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, filepath.ToSlash(name))
		}
	}
	slices.Sort(names)
	var list bytes.Buffer
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(text), name)
	}
	return fmt.Sprintf("%x", sha256.Sum256(list.Bytes()))
}
