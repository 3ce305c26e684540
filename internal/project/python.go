package project

import (
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

// pythonEntry is the file that the engine runs.
const pythonEntry = "provider.py"

// compilePython packs the entry and all modules it imports into the engine.
func compilePython(b *builder) error {
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	engine := guestsdk.PythonEngine()
	scripts, err := collectPython(root.FS(), engine.Modules)
	if err != nil {
		return err
	}
	b.compiler = engine.Version
	module, err := inject(engine.Module, engine.Entry, packScripts(scripts, nil))
	if err != nil {
		return err
	}
	return os.WriteFile(b.module, module, 0o600)
}

// importStatement finds the statements of a source that import modules, and builtinOpen the calls of open, which is in
// the module _files. Both may find other text: a file too many does no harm.
var (
	importStatement = expression(`(?m)^[ \t]*(?:import[ \t]+([^#;\n]+)|from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^#;\n]+))`)
	builtinOpen     = expression(`\bopen\(`)
)

// collectPython reads the entry and all files it imports, directly or not, from the project and from the library. The
// entry comes first.
func collectPython(project fs.FS, library map[string]string) ([]script, error) {
	found, size := []script{}, 0
	queue, seen := []string{pythonEntry}, map[string]bool{pythonEntry: true}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		text, own, err := readPython(project, library, name)
		if err != nil {
			return nil, err
		}
		if own {
			size += len(text)
		}
		if size > maxScriptBytes || len(found) == maxScripts {
			return nil, fmt.Errorf("%s imports too much: at most %d files and %d MiB can be packed",
				pythonEntry, maxScripts, maxScriptBytes>>20)
		}
		found = append(found, script{name, text})
		for _, next := range importedBy(name, text) {
			if _, _, err := readPython(project, library, next); err == nil && !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return found, nil
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
