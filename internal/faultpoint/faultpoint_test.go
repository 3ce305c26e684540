package faultpoint_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/faultpoint"
	"github.com/wasmres/wasmres/internal/sourcetree"
)

func TestReach(t *testing.T) {
	faultpoint.Reach("before a test has set anything")
	var got []string
	faultpoint.Set(func(name string) { got = append(got, name) })
	faultpoint.Reach("a")
	faultpoint.Reach("b")
	if strings.Join(got, " ") != "a b" {
		t.Errorf("got %q", got)
	}
}

// No program can be made to end at a point but by its tests.
func TestOnlyTestsSetPoints(t *testing.T) {
	found := false
	for _, top := range []string{"cmd", "internal", "runtime", "registry", "examples"} {
		err := filepath.WalkDir(filepath.Join(sourcetree.Root(), top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasPrefix(path, filepath.Join(sourcetree.Root(), "internal", "faultpoint")) {
				return err
			}
			text, err := os.ReadFile(path)
			if bytes.Contains(text, []byte("faultpoint.Set")) {
				if found = true; !strings.HasSuffix(path, "_test.go") {
					t.Errorf("%s sets what points do, and is no test", path)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !found {
		t.Error("no test sets what points do: this test looks in the wrong place")
	}
}
