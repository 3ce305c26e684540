package wasmres

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestGuestsStaySmall holds the code that ends up in guests to packages that are small and that TinyGo has.
func TestGuestsStaySmall(t *testing.T) {
	allowed := []string{"errors", "io", "io/fs", "math", "runtime", "strconv", "strings", "time", "unsafe",
		"github.com/wasmres/wasmres/guest-sdk/go/internal/host", "github.com/wasmres/wasmres/guest-sdk/go/internal/wire"}
	for _, pattern := range []string{"*.go", "internal/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range parsed.Imports {
				if path, _ := strconv.Unquote(i.Path.Value); !slices.Contains(allowed, path) {
					t.Errorf("%s imports %s", file, path)
				}
			}
		}
	}
}
