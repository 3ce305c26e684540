package policy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/strict"
)

// otherHosts returns the files of other MCP hosts.
func otherHosts(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/import/*")
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, ".txt") })
	if err != nil || len(files) != 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}

// Each file of testdata/import is of another MCP host; the file .txt beside it has the policies made of it.
func TestImport(t *testing.T) {
	for _, file := range otherHosts(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var said strings.Builder
			found, err := policy.ParseImport(filepath.Base(file), text)
			for _, one := range found {
				fmt.Fprintf(&said, "## %s\n%s", one.Name, one.Policy.Format())
				for _, lost := range one.Lost {
					fmt.Fprintf(&said, "! %s\n", lost)
				}
				if again, err := policy.Parse("again", one.Policy.Format()); err != nil || !policy.Covers(again, one.Policy) {
					t.Errorf("%s: what was imported is not read: %v", one.Name, err)
				}
			}
			if err != nil {
				fmt.Fprintln(&said, err)
			}
			golden(t, "import/"+filepath.Base(file)+".txt", []byte(said.String()))
		})
	}
}

func TestImportFileTakesPathsFromItsFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "manifest.json")
	write(t, file, `{"wasm": [], "allowed_paths": {"notes": "/notes"}}`)
	found, err := policy.ImportFile(file)
	if err != nil || len(found) != 1 || found[0].Policy.Storage[0].Host != filepath.Join(dir, "notes") {
		t.Errorf("got %+v, %v", found, err)
	}
	if _, err := policy.ImportFile(filepath.Join(dir, "config.toml")); err == nil || !strings.Contains(err.Error(), "TOML is not supported") {
		t.Errorf("got %v", err)
	}
}

func FuzzImport(f *testing.F) {
	for _, file := range otherHosts(f) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		found, err := policy.ParseImport("file", text)
		if err != nil && len(strict.ProblemsOf(err)) == 0 {
			t.Fatalf("an error that says no problem: %v", err)
		}
		for _, one := range found {
			if _, err := policy.Parse("again", one.Policy.Format()); err != nil {
				t.Fatalf("what was imported is not read: %v\n%s", err, one.Policy.Format())
			}
		}
	})
}
