package project

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// write makes files in a new folder.
func write(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestDetect(t *testing.T) {
	for name, tt := range map[string]struct {
		files []string
		want  Language
		fail  string
	}{
		"Go":             {[]string{"go.mod", "main.go"}, Go, ""},
		"Go with C":      {[]string{"go.mod", "x.c"}, Go, ""},
		"Rust":           {[]string{"Cargo.toml"}, Rust, ""},
		"AssemblyScript": {[]string{"asconfig.json", "package.json"}, AssemblyScript, ""},
		"JavaScript":     {[]string{"provider.js", "package.json"}, JavaScript, ""},
		"TypeScript":     {[]string{"provider.ts", "package.json", "tsconfig.json"}, TypeScript, ""},
		"AssemblyScript, with the name of TypeScript": {[]string{"asconfig.json", "provider.ts"}, AssemblyScript, ""},
		"C":                 {[]string{"x.c"}, C, ""},
		"nothing":           {[]string{"README.md", "sub/main.c"}, "", "has no go.mod"},
		"two":               {[]string{"go.mod", "Cargo.toml"}, "", "languages go, rust: choose one with --lang"},
		"two with C beside": {[]string{"go.mod", "Cargo.toml", "x.c"}, "", "go, rust, c: choose one with --lang"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			for _, f := range tt.files {
				files[f] = ""
			}
			got, err := Detect(write(t, files))
			if got != tt.want || (err == nil) != (tt.fail == "") || (err != nil && !strings.Contains(err.Error(), tt.fail)) {
				t.Errorf("got %v, %v, want %v, %q", got, err, tt.want, tt.fail)
			}
		})
	}
	odd := filepath.Join(write(t, map[string]string{"a[b]*/x.c": ""}), "a[b]*")
	if got, err := Detect(odd); got != C || err != nil {
		t.Errorf("a folder named like a pattern: got %v, %v", got, err)
	}
	if _, err := Detect(filepath.Join(t.TempDir(), "nope")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: got %v", err)
	}
}

// onlyInPath has Rust looked for nowhere else.
func onlyInPath(t *testing.T) {
	before := rustCompilers
	rustCompilers = before[:1]
	t.Cleanup(func() { rustCompilers = before })
}

// Without tools each language says what it takes.
func TestMissingTools(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the advice is that of Linux")
	}
	onlyInPath(t)
	for l, want := range map[Language]string{
		Go:             "https://go.dev/dl/",
		C:              "clang",
		AssemblyScript: "https://nodejs.org",
		TypeScript:     "https://nodejs.org",
		Rust:           "wasm32",
	} {
		t.Run(string(l), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "notes")
			if err := Create(dir, l, "v1"); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", t.TempDir())
			_, err := Build(t.Context(), dir, l, Options{})
			var missing *Missing
			if !errors.As(err, &missing) || !strings.Contains(missing.Advice, want) {
				t.Errorf("got %v, want advice with %q", err, want)
			}
		})
	}
}

// fakeBundler writes an empty bundle and its map.
const fakeBundler = `for out; do :; done; out=${out#--outfile=}; : >"$out"; echo '{"version": 3}' >"$out.map"`

// The tools here are shell scripts, each alone in PATH.
func TestUnfitTools(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("shell scripts")
	}
	onlyInPath(t)
	for name, tt := range map[string]struct {
		l     Language
		tools map[string]string
		want  string
	}{
		"old Go":                      {Go, map[string]string{"go": "echo go1.19.8"}, "is go1.19.8"},
		"clang without wasm":          {C, map[string]string{"clang": "echo '  aarch64 - AArch64'"}, "a clang that compiles"},
		"no linker":                   {C, map[string]string{"clang": "echo '  wasm32 - WebAssembly'"}, "wasm-ld is missing"},
		"no compiler in node_modules": {AssemblyScript, map[string]string{"node": ""}, "run npm install"},
		"no bundler in node_modules":  {TypeScript, map[string]string{"node": ""}, "the package esbuild is missing: in "},
		"no types without tsc":        {TypeScript, map[string]string{"node": "", "esbuild": fakeBundler}, "the package typescript is missing"},
		"Rust without wasm":           {Rust, map[string]string{"rustc": "echo ${0%/*}", "cargo": "", "rustup": ""}, "target add"},
		"Rust without a linker": {Rust, map[string]string{
			"rustc": "echo ${0%/*}", "libstd-x.rlib": "",
			"cargo": "echo 'error: linker `rust-lld` not found' >&2; exit 101",
		}, "the linker of rustc is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "notes")
			if err := Create(dir, tt.l, "v1"); err != nil {
				t.Fatal(err)
			}
			scripts := map[string]string{}
			for tool, text := range tt.tools {
				scripts[tool] = "#!/bin/sh\n" + text + "\n"
			}
			t.Setenv("PATH", write(t, scripts))
			_, err := Build(t.Context(), dir, tt.l, Options{})
			var missing *Missing
			if !errors.As(err, &missing) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// What a compiler says is in the error, or in the log when there is one.
func TestFailedBuild(t *testing.T) {
	dir := write(t, map[string]string{
		"go.mod": "module x\n\ngo 1.24\n", "main.go": "package main\n\nfunc main() { nope() }\n",
	})
	_, err := Build(t.Context(), dir, Go, Options{})
	var failed *Failed
	if !errors.As(err, &failed) || !strings.Contains(failed.Output, "undefined: nope") {
		t.Errorf("got %v", err)
	}
	var log bytes.Buffer
	_, err = Build(t.Context(), dir, Go, Options{Log: &log})
	if !errors.As(err, &failed) || failed.Output != "" || strings.Count(log.String(), "undefined: nope") != 1 {
		t.Errorf("got %v, log %q", err, log.String())
	}
	if !strings.Contains(log.String(), " build -buildmode=c-shared ") {
		t.Errorf("the log has no command: %q", log.String())
	}
}

func TestNamesOfFiles(t *testing.T) {
	for name, want := range map[string]string{
		"notes": "notes", "a.b_c-1": "a.b_c-1", "@scope/it": "it",
		"": "folder", "..": "folder", "a b": "folder", "x/..": "folder",
	} {
		if got := fileName(name, "/some/folder"); got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
	if got := fileName("", "/"); got != "provider" {
		t.Errorf("in the root: got %s", got)
	}
}

func TestGoModule(t *testing.T) {
	for text, want := range map[string]string{
		"module example.com/notes\n": "notes", "// module x\n\nmodule \"a/b\" // c\n": "b", "module a/notes/v2": "notes",
		"module": "", "go 1.24\n": "", "": "",
	} {
		if got := goModule(filepath.Join(write(t, map[string]string{"go.mod": text}), "go.mod")); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestIsDebian(t *testing.T) {
	for release, want := range map[string]bool{
		"NAME=x\nID=debian\n": true, "ID=ubuntu\nID_LIKE=debian\n": true, "ID_LIKE=\"ubuntu debian\"\n": true,
		"ID=fedora\nID_LIKE='rhel'\n": false, "HOME_URL=debian\n": false, "": false,
	} {
		if got := isDebian(release); got != want {
			t.Errorf("%q: got %v", release, got)
		}
	}
}

func TestCargoLibrary(t *testing.T) {
	dir := t.TempDir()
	artifact := func(kind, dir, file string) string {
		return `{"reason":"compiler-artifact","target":{"kind":["` + kind + `"],"name":"my_notes","src_path":"` + dir +
			`/src/lib.rs"},"filenames":["` + file + `"]}` + "\n"
	}
	name, module, err := cargoLibrary(artifact("cdylib", "/other", "/t/other.wasm")+artifact("lib", dir, "/t/x.rlib")+
		"not json\n"+artifact("cdylib", dir, "/t/my_notes.wasm"), dir)
	if name != "my-notes" || module != "/t/my_notes.wasm" || err != nil {
		t.Errorf("got %s, %s, %v", name, module, err)
	}
	_, _, err = cargoLibrary(artifact("lib", dir, "/t/x.rlib"), dir)
	if err == nil || !strings.Contains(err.Error(), "cdylib") {
		t.Errorf("without a module: got %v", err)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("WASMRES_A", "1")
	t.Setenv("WASMRES_B", "2")
	got := slices.DeleteFunc(environment([]string{"WASMRES_A", "WASMRES_B=3", "WASMRES_C=4"}), func(v string) bool {
		return !strings.HasPrefix(v, "WASMRES_")
	})
	for _, v := range got {
		if strings.HasPrefix(v, "WASMRES_A=") || v == "WASMRES_B=2" {
			t.Errorf("%s is still there", v)
		}
	}
	want := map[string]bool{"WASMRES_B=3": true, "WASMRES_C=4": true}
	maps.DeleteFunc(want, func(v string, _ bool) bool { return slices.Contains(got, v) })
	if len(want) > 0 {
		t.Errorf("%v are not there", want)
	}
}
