package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/policy"
	runtime "github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Clients that have subscribed to a folder are notified when a file in it comes, changes or goes, and of nothing else. A
// client of the list is notified when one comes or goes.
func TestChangesInFoldersAreTold(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for changes of folders")
	}
	for example, c := range map[string]struct{ guest, uri string }{
		"file": {"/files", "file:///docs/"}, "project": {"/project", "project://file/docs"},
	} {
		t.Run(example, func(t *testing.T) {
			dir := t.TempDir()
			docs, beside := filepath.Join(dir, "docs"), filepath.Join(dir, "beside")
			for _, folder := range []string{docs, beside} {
				if err := os.Mkdir(folder, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			apart := t.TempDir()
			write := func(name, text string) { // at once, as one change
				t.Helper()
				temporary := filepath.Join(apart, "new")
				if err := os.WriteFile(temporary, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(temporary, name); err != nil {
					t.Fatal(err)
				}
			}
			write(filepath.Join(docs, "a.txt"), "one")
			a, err := Open(t.Context(), Config{
				File: guesttest.File(t, example), CacheDir: guesttest.CacheDir(t), Isolation: runtime.IsolateNone,
				Grants: policy.Policy{Storage: []policy.Storage{{Host: dir, Guest: c.guest, Access: policy.Read}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			told := make(chan string, 100)
			notify := resource.NotifierFunc(func(uri string) { told <- uri })
			if got, err := a.source.Subscribe(t.Context(), parse(c.uri), true, notify); err != nil || len(got) != 1 {
				t.Fatalf("got %q, %v", got, err)
			}
			await := func(why, want, never string) {
				t.Helper()
				for got := range told {
					if never != "" && got == never {
						t.Fatalf("%s: told of %s, which has not changed", why, got)
					}
					if got == want {
						return
					}
				}
			}
			write(filepath.Join(docs, "b.txt"), "new")
			await("a file comes", c.uri, "") // after the change of the list, which is reported first
			write(filepath.Join(beside, "b.txt"), "elsewhere")
			await("a file elsewhere", "", c.uri)
			write(filepath.Join(docs, "b.txt"), "changed")
			await("a file changes", c.uri, "")
			if err := os.Remove(filepath.Join(docs, "a.txt")); err != nil {
				t.Fatal(err)
			}
			await("a file goes", c.uri, "")
			if err := os.RemoveAll(docs); err != nil {
				t.Fatal(err)
			}
			await("the folder goes", c.uri, "")
		})
	}
}
