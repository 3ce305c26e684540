// Package guestsdk carries the sources of the guest SDKs, for projects that keep a copy, and the engines that providers
// in JavaScript, TypeScript and Python are packed into.
//
// The SDK for Go is a module of its own, which cannot be embedded from here: go.txtar is a copy of it. Nor can it import
// abi/uritemplate, by which its native tests match as the host does: it has a copy.
package guestsdk

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

//go:generate go test -run=TestCopyOf -update .

//go:embed c/*.h c/README.md
//go:embed rust/Cargo.toml rust/README.md rust/src
//go:embed assemblyscript/index.ts assemblyscript/*.json assemblyscript/README.md assemblyscript/assembly
//go:embed javascript/README.md javascript/wasmres.d.ts
//go:embed typescript/README.md typescript/mcp.ts typescript/test
//go:embed python/README.md python/__init__.pyi all:python/fastmcp all:python/native
var files embed.FS

//go:embed go.txtar
var copyOfGo string

// unwanted are files that only tests of this repository use.
var unwanted = map[string]bool{"rust/src/golden.rs": true, "assemblyscript/package-lock.json": true}

// Languages gives the names of the languages there is an SDK for: assemblyscript, c, go, javascript, python, rust
// and typescript.
func Languages() []string {
	return []string{"assemblyscript", "c", "go", "javascript", "python", "rust", "typescript"}
}

// Files gives the sources of a language's SDK by path, with slashes; of those for JavaScript and Python what editors
// and people read and native tests run, the rest being in [JavaScriptEngine] and [PythonEngine]. It is an error when there is no such SDK.
func Files(language string) (map[string]string, error) {
	if !slices.Contains(Languages(), language) {
		return nil, fmt.Errorf("there is no SDK for %q, only for %s", language, strings.Join(Languages(), ", "))
	}
	if language == "go" {
		return parse(copyOfGo), nil
	}
	found := map[string]string{}
	if language == "typescript" {
		addJavaScript(found)
	}
	err := fs.WalkDir(files, language, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || unwanted[name] {
			return err
		}
		text, err := files.ReadFile(name)
		found[strings.TrimPrefix(strings.TrimPrefix(name, language+"/"), "native/")] = string(text)
		return err
	})
	if language == "python" {
		maps.Copy(found, pythonPackage())
	}
	return found, err
}

// addJavaScript adds what the SDK for TypeScript has of that for JavaScript: types, and the modules that native tests run.
func addJavaScript(found map[string]string) {
	types, err := files.ReadFile("javascript/wasmres.d.ts")
	if err != nil {
		panic(err) // it is embedded
	}
	found["wasmres.d.ts"] = string(types)
	for name, text := range JavaScriptEngine().Modules {
		found["lib/"+path.Base(name)] = text
	}
	for name, text := range JavaScriptWeb() {
		found["lib/web/"+path.Base(name)] = text
	}
}

// wantedOfGo reports whether a file of the SDK for Go belongs to its copy.
func wantedOfGo(name string) bool {
	switch path.Ext(name) {
	case ".go":
		return !strings.HasSuffix(name, "_test.go")
	case ".mod", ".md":
		return true
	}
	return false
}

// marker begins and ends the line before each file of a txtar archive.
const (
	markerStart = "-- "
	markerEnd   = " --\n"
)

// format gives files as a txtar archive. Each must end with a line end.
func format(files map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		b.WriteString(markerStart + name + markerEnd + files[name])
	}
	return b.String()
}

// parse reads what format made.
func parse(archive string) map[string]string {
	files, name, text := map[string]string{}, "", strings.Builder{}
	keep := func() {
		if name != "" {
			files[name] = text.String()
		}
		text.Reset()
	}
	for line := range strings.Lines(archive) {
		if strings.HasPrefix(line, markerStart) && strings.HasSuffix(line, markerEnd) {
			keep()
			name = line[len(markerStart) : len(line)-len(markerEnd)]
			continue
		}
		text.WriteString(line)
	}
	keep()
	return files
}
