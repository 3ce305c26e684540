package app

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/policy"
	runtime "github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Clients of a provider that reads files of a directory are notified of changes, without code in the provider.
func TestChangesInGrantedFoldersAreTold(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "notes.txt")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, "one")
	a, err := Open(t.Context(), Config{
		File: guesttest.File(t, "project"), CacheDir: guesttest.CacheDir(t), Isolation: runtime.IsolateNone,
		Grants: policy.Policy{Storage: []policy.Storage{{Host: dir, Guest: "/project", Access: policy.Read}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	told := make(chan string, 100)
	notify := func(uri string) { told <- uri }
	uris := []string{"project://file/notes.txt", "project://file/later.txt"}
	if watched, err := a.source.Subscribe(t.Context(), parse(uris...), true, resource.NotifierFunc(notify)); err != nil || len(watched) != 2 {
		t.Fatalf("got %q, %v", watched, err)
	}
	await := func(want string, never ...string) {
		t.Helper()
		for got := range told {
			if slices.Contains(never, got) {
				t.Fatalf("told of %s, which has not changed, while waiting for %q", got, want)
			}
			if got == want {
				return
			}
		}
	}
	write(filepath.Join(dir, "other.txt"), "at once")
	await("", uris...) // the list
	write(file, "one and two")
	await(uris[0], uris[1])
	write(filepath.Join(dir, "later.txt"), "now")
	await("") // before or after uris[1], which is there now
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	await(uris[0])
	write(filepath.Join(dir, "later.txt"), "now and then")
	await(uris[1])
}

// parse returns URIs that are valid.
func parse(uris ...string) (parsed []abi.URI) {
	for _, uri := range uris {
		parsed = append(parsed, abi.MustParseURI(uri))
	}
	return parsed
}
