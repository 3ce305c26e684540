package check

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
)

// What differs is kept once: the module, and a session of each call.
func TestWhatDiffersIsKept(t *testing.T) {
	dir := t.TempDir()
	module := filepath.Join(dir, "a.wasm")
	if err := os.WriteFile(module, []byte("module"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := &comparison{dir: filepath.Join(dir, "differences")}
	for range 2 {
		for _, text := range []string{"one", "two"} {
			d := &app.Difference{In: "the fuel is 2, and was 1", Fault: app.Fault{
				Digest: "sha256:0123456789abcdef0123", Op: abi.OpRead, URI: "a:b",
				Session: func(comment string) ([]byte, string) { return []byte(comment + text), "" },
			}}
			session, err := e.keep(module, d)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(session); err != nil || string(got) != "The engines differ: the fuel is 2, and was 1.\n\n"+text {
				t.Errorf("got %q, %v", got, err)
			}
		}
	}
	entries, err := os.ReadDir(e.dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, filepath.Ext(entry.Name()))
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{".txtar", ".txtar", ".wasm"}) {
		t.Errorf("got %v", names)
	}
}
