package project

import (
	"encoding/binary"
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

const (
	pythonEntry    = "provider.py"         // the file that the engine runs
	pythonBuiltins = "_builtins.py"        // of the library, which any file may use without an import
	pythonSDK      = "wasmres/__init__.py" // which explains imports that fail, also those before its own
)

// compilePython has the engine compile the entry and all modules it imports.
func compilePython(b *builder) error {
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	engine := guestsdk.PythonEngine()
	own, library, err := collectPython(vendored{root.FS()}, engine.Modules)
	if err != nil {
		return err
	}
	b.compiler = engine.Version
	return prepare(b, engine, packPython(own, library))
}

// packPython encodes files for the engine: see python/engine/pack.c.
func packPython(own, library []script) []byte {
	pack := binary.LittleEndian.AppendUint32(nil, uint32(len(own)))
	return append(pack, packScripts(slices.Concat(own, library), nil)...)
}

// importStatement finds the statements of a source that import modules, and builtinOpen the calls of open, which is in
// the module _files. Both may find other text: a file too many does no harm.
var (
	importStatement = expression(`(?m)^[ \t]*(?:import[ \t]+([^#;\n]+)|from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^#;\n]+))`)
	builtinOpen     = expression(`\bopen\(`)
)

// collectPython reads the entry and all files it imports, directly or not: those of the project, of which the entry comes
// first, and those of the library.
func collectPython(project fs.FS, modules map[string]string) (own, library []script, err error) {
	size := 0
	queue := []string{pythonEntry, pythonBuiltins, pythonSDK}
	seen := map[string]bool{pythonEntry: true, pythonBuiltins: true, pythonSDK: true}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		text, isOwn, err := readPython(project, modules, name)
		if err != nil {
			return nil, nil, err
		}
		if !isOwn {
			library = append(library, script{name, text})
		} else if size += len(text); size > maxScriptBytes || len(own) == maxScripts {
			return nil, nil, fmt.Errorf("%s imports too much: at most %d files and %d MiB can be packed",
				pythonEntry, maxScripts, maxScriptBytes>>20)
		} else {
			own = append(own, script{name, text})
		}
		for _, next := range importedBy(name, text) {
			if _, _, err := readPython(project, modules, next); err == nil && !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return own, library, nil
}

// readPython returns a file of the library, or else of the project, and whether it is the project's own. So a project
// can have its copy of the SDK's stubs beside its sources.
func readPython(project fs.FS, library map[string]string, name string) (text string, own bool, err error) {
	if text, ok := library[name]; ok {
		return text, false, nil
	}
	info, err := fs.Stat(project, name)
	if err != nil {
		return "", false, err
	}
	if !info.Mode().IsRegular() {
		return "", false, fmt.Errorf("%s is not a file", name)
	}
	b, err := fs.ReadFile(project, name)
	if err != nil {
		return "", false, err
	}
	if !utf8.Valid(b) {
		return "", false, fmt.Errorf("%s is not UTF-8: convert it", name)
	}
	return string(b), true, nil
}

// importedBy returns the files that a source may import, whether they exist or not.
func importedBy(file, text string) []string {
	names := map[string]bool{}
	add := func(module string) {
		for parts := strings.Split(module, "."); len(parts) > 0; parts = parts[:len(parts)-1] {
			name := path.Join(parts...)
			names[name+".py"], names[name+"/__init__.py"] = true, true
		}
	}
	for _, m := range importStatement().FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			for _, module := range importedNames(m[1]) {
				add(module)
			}
			continue
		}
		from := absoluteModule(file, m[2])
		add(from)
		for _, name := range importedNames(m[3]) {
			add(strings.TrimPrefix(from+"."+name, "."))
		}
	}
	if builtinOpen().MatchString(text) {
		add("_files")
	}
	return slices.Sorted(maps.Keys(names))
}

// importedNames returns the names of a list such as "a, b.c as d", in which there may be parentheses.
func importedNames(list string) (names []string) {
	for item := range strings.SplitSeq(strings.Trim(list, "() \t\r\n\\"), ",") {
		if words := strings.Fields(item); len(words) > 0 {
			names = append(names, words[0])
		}
	}
	return names
}

// absoluteModule resolves a name that begins with dots, from the package of file.
func absoluteModule(file, module string) string {
	name := strings.TrimLeft(module, ".")
	dots := len(module) - len(name)
	if dots == 0 {
		return module
	}
	dir := path.Dir(file)
	for ; dots > 1; dots-- {
		dir = path.Dir(dir)
	}
	return strings.Trim(strings.ReplaceAll(path.Join(dir, strings.ReplaceAll(name, ".", "/")), "/", "."), ".")
}
