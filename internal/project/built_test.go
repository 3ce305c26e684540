package project_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/project"
)

func TestBuilt(t *testing.T) {
	for name, tt := range map[string]struct {
		files []string
		want  string // of the file
		wrong string // of the error
	}{
		"one":           {[]string{"go.mod", "other.wasm", "other.debug.wasm"}, "other.wasm", ""},
		"as the folder": {[]string{"go.mod", "other.wasm", "notes.wasm"}, "notes.wasm", ""},
		"none":          {[]string{"go.mod", "notes.debug.wasm", ".new.wasm"}, "", "run 'wasmres build'"},
		"several":       {[]string{"go.mod", "a.wasm", "b.wasm"}, "", "a.wasm, b.wasm: name one of them"},
		"no project":    {[]string{"notes.wasm"}, "", "not a project"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "notes")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, file := range tt.files {
				if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := project.Built(dir)
			if tt.want != "" && (err != nil || got != filepath.Join(dir, tt.want)) {
				t.Errorf("got %q, %v", got, err)
			}
			if tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
				t.Errorf("got %q, %v, want %s", got, err, tt.wrong)
			}
			if isNone := errors.Is(err, project.ErrNoProject); isNone != (name == "no project") {
				t.Errorf("no project: got %v", isNone)
			}
		})
	}
}
