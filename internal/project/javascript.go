package project

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	guestsdk "github.com/wasmres/wasmres/guest-sdk"
)

// scriptEntry is the file of a project in JavaScript that is evaluated.
const scriptEntry = "provider.js"

// Bounds of what is packed of a project in JavaScript.
const (
	maxScripts     = 1000    // files
	maxScriptBytes = 8 << 20 // all together
)

// compileJavaScript packs the scripts into the engine: there is nothing to compile.
func compileJavaScript(b *builder) error {
	var about struct{ Name string }
	if err := readJSON(b.path("package.json"), &about); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	b.name = path.Base(about.Name)
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	scripts, err := collectScripts(root.FS())
	if err != nil {
		return err
	}
	engine := guestsdk.JavaScriptEngine()
	b.compiler = engine.Version
	module, err := inject(engine.Module, engine.Entry, packScripts(scripts, engine.Modules))
	if err != nil {
		return err
	}
	return os.WriteFile(b.module, module, 0o600)
}

// A script is a source as the engine evaluates it: always a module of JavaScript.
type script struct{ name, text string }

// relativeText finds the texts in a source that may be the path of another: those that begin with ./ or ../ as relative
// imports do, however they are written. One too many does no harm.
var relativeText = expression("[\"'`](\\.{1,2}/[^\"'`\\s]+)[\"'`]")

// collectScripts reads the entry and all that it leads to, the entry first.
func collectScripts(project fs.FS) ([]script, error) {
	found, size := []script{}, 0
	queue, seen := []string{scriptEntry}, map[string]bool{scriptEntry: true}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		text, err := fs.ReadFile(project, name)
		if err != nil {
			return nil, err
		}
		if size += len(text); size > maxScriptBytes || len(found) == maxScripts {
			return nil, fmt.Errorf("%s and what it imports are more than %d files or %d MiB",
				scriptEntry, maxScripts, maxScriptBytes>>20)
		}
		s, err := asModule(name, text)
		if err != nil {
			return nil, err
		}
		found = append(found, s)
		for _, next := range scriptsNamed(project, name, text) {
			if !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return found, nil
}

// scriptsNamed gives the files that a script names by relative paths. What is not there is left to the engine, which
// knows whether it is an import.
func scriptsNamed(project fs.FS, name string, text []byte) (names []string) {
	if !isJavaScript(name) {
		return nil
	}
	for _, m := range relativeText().FindAllSubmatch(text, -1) {
		next := path.Join(path.Dir(name), string(m[1]))
		if !isJavaScript(next) && !isData(next) {
			continue
		}
		if info, err := fs.Stat(project, next); err == nil && info.Mode().IsRegular() {
			names = append(names, next)
		}
	}
	return names
}

func isJavaScript(name string) bool { return path.Ext(name) == ".js" || path.Ext(name) == ".mjs" }

// isData reports whether a file is imported as a value: JSON as what it stands for, others as their text.
func isData(name string) bool {
	return slices.Contains([]string{".json", ".txt", ".md", ".csv", ".html"}, path.Ext(name))
}

// asModule makes a module of a file. One of data exports its value as default.
func asModule(name string, text []byte) (script, error) {
	switch {
	case !utf8.Valid(text):
		return script{}, fmt.Errorf("%s is not UTF-8", name)
	case isJavaScript(name):
		return script{name, string(text)}, nil
	case path.Ext(name) == ".json":
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			return script{}, fmt.Errorf("%s: %w", name, err)
		}
		return script{name, "export default JSON.parse(" + scriptString(text) + ");\n"}, nil
	}
	return script{name, "export default " + scriptString(text) + ";\n"}, nil
}

// scriptString writes text as a literal, for which JSON is a subset of JavaScript.
func scriptString(text []byte) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(string(text)) // which cannot fail: it is UTF-8
	return strings.TrimSuffix(b.String(), "\n")
}

// packScripts writes scripts as the engine reads them, those of a project before those of the SDK: the lengths of name
// and text, 32 bits each, then both, each with a NUL.
func packScripts(scripts []script, sdk map[string]string) (pack []byte) {
	for _, name := range slices.Sorted(maps.Keys(sdk)) {
		scripts = append(scripts, script{name, sdk[name]})
	}
	for _, s := range scripts {
		pack = binary.LittleEndian.AppendUint32(pack, uint32(len(s.name)))
		pack = binary.LittleEndian.AppendUint32(pack, uint32(len(s.text)))
		pack = append(append(pack, s.name...), 0)
		pack = append(append(pack, s.text...), 0)
	}
	return pack
}
