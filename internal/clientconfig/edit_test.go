package clientconfig_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/internal/clientconfig"
)

var update = flag.Bool("update", false, "write the golden files anew")

// notes is a server for tests.
func notes() clientconfig.Server {
	return clientconfig.Server{
		Name: "notes", Command: "/usr/local/bin/wasmres",
		Args: []string{"run", "--dir", `/home/ada/no "tes" \x:/notes`, "--kv", "/home/ada/notes.wasm"},
	}
}

// client returns the client of an ID, with its configuration in a file.
func client(t testing.TB, id string) clientconfig.Client {
	t.Helper()
	for _, c := range clientconfig.Clients() {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("there is no client %s", id)
	return clientconfig.Client{}
}

// system is a user of Linux with an empty home folder.
func system(t testing.TB) clientconfig.System {
	t.Helper()
	exists := func(path string) bool { _, err := os.Lstat(path); return err == nil }
	home, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	dir := filepath.Join(home, "project")
	must(t, os.Mkdir(dir, 0o700))
	return clientconfig.System{OS: "linux", Home: home, Dir: dir, Exists: exists}
}

func must(t testing.TB, all ...error) {
	t.Helper()
	if err := errors.Join(all...); err != nil {
		t.Fatal(err)
	}
}

// write makes a client's configuration.
func write(t testing.TB, c clientconfig.Client, s clientconfig.System, text string) string {
	t.Helper()
	file := c.File(s)
	must(t, os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o640))
	return file
}

func read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	return string(text)
}

// apply opens a configuration, edits it, writes the change and returns the text.
func apply(t testing.TB, c clientconfig.Client, s clientconfig.System, edit func(*clientconfig.Document) (*clientconfig.Change, error)) string {
	t.Helper()
	d, err := clientconfig.Open(c, s)
	must(t, err)
	change, err := edit(d)
	must(t, err)
	must(t, os.WriteFile(d.File, change.After(), 0o600))
	return string(change.After())
}

func set(server clientconfig.Server) func(*clientconfig.Document) (*clientconfig.Change, error) {
	return func(d *clientconfig.Document) (*clientconfig.Change, error) { return d.Set(server) }
}

func remove(name string) func(*clientconfig.Document) (*clientconfig.Change, error) {
	return func(d *clientconfig.Document) (*clientconfig.Change, error) { return d.Remove(name) }
}

// variants are ways in which an editor may have written the same file.
var variants = []struct {
	name    string
	written func(string) string
}{
	{"as it is", func(s string) string { return s }},
	{"CRLF", func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }},
	{"byte order mark", func(s string) string { return "\ufeff" + s }},
}

// Each file of testdata/edits is a configuration of the client by whose ID its name begins. Its golden files have it with a
// server, with another version of that server, and without it.
func TestEdits(t *testing.T) {
	files, err := filepath.Glob("testdata/edits/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		id, _, _ := strings.Cut(name, ".")
		before := read(t, file)
		for i, v := range variants {
			written := v.written
			if i > 0 && !strings.Contains(before, "\n") {
				continue // it has no line to write in another way
			}
			t.Run(name+"/"+v.name, func(t *testing.T) {
				c, s := client(t, id), system(t)
				write(t, c, s, written(before))
				check := func(step, got string) {
					t.Helper()
					golden := strings.TrimSuffix(file, ".txt") + "." + step
					if *update && i == 0 {
						must(t, os.WriteFile(golden, []byte(got), 0o644))
					}
					if diff := cmp.Diff(written(read(t, golden)), got); diff != "" {
						t.Errorf("%s: want -, got +; run with -update if that is right\n%s", step, diff)
					}
				}
				check("added", apply(t, c, s, set(notes())))
				d, err := clientconfig.Open(c, s)
				must(t, err)
				if change, err := d.Set(notes()); err != nil || !change.IsNone() {
					t.Errorf("the second time: %v, want no change", err)
				}
				if e, ok := d.Entry("notes"); !ok || !e.IsWasmres("") || cmp.Diff(e.Args, notes().Args) != "" {
					t.Errorf("got the entry %+v", e)
				}
				other := notes()
				other.Args, other.Env = []string{"run", "/srv/notes.wasm"}, map[string]string{"XDG_CONFIG_HOME": "/home/ada/.cfg"}
				check("changed", apply(t, c, s, set(other)))
				check("removed", apply(t, c, s, remove("notes")))
			})
		}
	}
}
