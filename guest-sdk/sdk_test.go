package guestsdk

import (
	"flag"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the copies anew")

// It comes before TestCopyOfGo, whose copy has this one in it.
func TestCopyOfURITemplate(t *testing.T) {
	const from, to = "../abi/uritemplate", "go/internal/uritemplate"
	const header = "// Code generated from abi/uritemplate by go generate ./guest-sdk. DO NOT EDIT.\n\n"
	want := sources(t, from, wantedOfGo)
	for name := range want {
		want[name] = header + want[name]
	}
	if *update {
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(to, inMemory(want)); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, sources(t, to, wantedOfGo)); diff != "" {
		t.Errorf("%s is stale: run go generate ./guest-sdk; source -, copy +:\n%s", to, diff)
	}
}

func inMemory(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return fsys
}

func TestCopyOfGo(t *testing.T) {
	want := sources(t, "go", wantedOfGo)
	if *update {
		if err := os.WriteFile("go.txtar", []byte(format(want)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := Files("go")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("go.txtar is stale: run go generate ./guest-sdk; source -, copy +:\n%s", diff)
	}
}

// Nothing that was installed or built beside the sources is carried, and nothing that is needed is left out.
func TestFiles(t *testing.T) {
	for language, needed := range map[string][]string{
		"assemblyscript": {"README.md", "asconfig.json", "assembly/entry.ts", "index.ts", "package.json"},
		"c":              {"README.md", "wasmres.h", "wasmres_abi.h"},
		"go":             {"README.md", "go.mod", "internal/wire/wire.go", "route.go", "wasmrestest/provider.go"},
		"javascript":     {"README.md", "wasmres.d.ts"},
		"python":         {"README.md", "__init__.py", "__init__.pyi", "fastmcp/__init__.pyi", "library/httpx.py", "testing/client.py"},
		"rust":           {"Cargo.toml", "README.md", "src/host/imports.rs", "src/lib.rs", "src/testing/mod.rs"},
		"typescript":     {"README.md", "wasmres.d.ts", "lib/index.js", "mcp.ts", "test/index.mjs"},
	} {
		t.Run(language, func(t *testing.T) {
			got, err := Files(language)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range needed {
				if got[name] == "" {
					t.Errorf("%s is not there", name)
				}
			}
			for name, text := range sources(t, language, func(name string) bool { return got[name] != "" }) {
				if got[name] != text {
					t.Errorf("%s differs from the source", name)
				}
				delete(got, name)
			}
			if language == "python" {
				for name, text := range sources(t, "python/lib", func(name string) bool { return got["library/"+name] != "" }) {
					if got["library/"+name] != text {
						t.Errorf("library/%s differs from the source", name)
					}
					delete(got, "library/"+name)
				}
				for _, dir := range []string{"python/lib/wasmres", "python/native"} {
					for name, text := range sources(t, dir, func(string) bool { return true }) {
						if got[name] != text {
							t.Errorf("%s differs from the source", name)
						}
						delete(got, name)
					}
				}
			}
			if language == "typescript" {
				maps.DeleteFunc(got, func(name, _ string) bool { return name == "wasmres.d.ts" || strings.HasPrefix(name, "lib/") })
			}
			if len(got) > 0 {
				t.Errorf("there are no sources of %v", slices.Sorted(maps.Keys(got)))
			}
		})
	}
	const want = `"cobol", only for assemblyscript, c, go, javascript, python, rust, typescript`
	if _, err := Files("cobol"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}

// sources reads files of a folder by path.
func sources(t *testing.T, dir string, wanted func(name string) bool) map[string]string {
	t.Helper()
	found, root := map[string]string{}, os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !wanted(name) {
			return err
		}
		text, err := fs.ReadFile(root, name)
		found[name] = string(text)
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("%d files of %s: %v", len(found), dir, err)
	}
	return found
}
