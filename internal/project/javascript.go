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

// scriptEntry is the file that the engine evaluates first.
const scriptEntry = "provider.js"

// Bounds of the scripts of a project.
const (
	maxScripts     = 1000    // files
	maxScriptBytes = 8 << 20 // all together
)

// compileJavaScript packs the scripts into the engine.
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
	return prepare(b, engine, packScripts(scripts, usedModules(engine.Modules, scripts)))
}

// A script is the source of one JavaScript module.
type script struct{ name, text string }

// relativeText finds the string literals in a source that begin with ./ or ../, as relative imports do. It may find
// strings that are not imports: a file too many does no harm.
var relativeText = expression("[\"'`](\\.{1,2}/[^\"'`\\s]+)[\"'`]")

// collectScripts reads the entry and all files that it imports, directly or not. The entry comes first.
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
			return nil, fmt.Errorf("%s imports too much: at most %d files and %d MiB can be packed",
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

// scriptsNamed returns the files that a script names by relative paths. It leaves out missing files: the engine reports
// those that are imports.
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

// isData reports whether an import of a file gives a value: the decoded value of JSON, the text of other files.
func isData(name string) bool {
	return slices.Contains([]string{".json", ".txt", ".md", ".csv", ".html"}, path.Ext(name))
}

// asModule makes a JavaScript module of a file. The module of a data file exports the value as default.
func asModule(name string, text []byte) (script, error) {
	switch {
	case !utf8.Valid(text):
		return script{}, fmt.Errorf("%s is not UTF-8: convert it", name)
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

// scriptString returns text as a string literal. A JSON string is one in JavaScript.
func scriptString(text []byte) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(string(text)) // does not fail: a string, into memory
	return strings.TrimSuffix(b.String(), "\n")
}

// packScripts encodes the scripts of a project, then those of the SDK, for the engine. Each has the lengths of name and
// text, 32 bits each in little endian, then name and text, each followed by a NUL.
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
