package guestsdk

import (
	"slices"
	"strings"
	"testing"
)

// Every module of the SDK is carried, under the path that the others import it by.
func TestPythonModules(t *testing.T) {
	modules := PythonEngine().Modules
	for name, text := range sources(t, "python/lib", func(string) bool { return true }) {
		if modules[name] != text {
			t.Errorf("%s is not carried as it is", name)
		}
		delete(modules, name)
	}
	if len(modules) > 0 {
		t.Errorf("more is carried: %d modules", len(modules))
	}
}

// What an import that finds nothing names is what there is: see missing.py.
func TestPythonModulesAreNamed(t *testing.T) {
	modules := PythonEngine().Modules
	var want []string
	for name := range modules {
		top, inner, _ := strings.Cut(name, "/")
		if !strings.HasPrefix(top, "_") && (inner == "" || inner == "__init__.py") {
			want = append(want, strings.TrimSuffix(top, ".py"))
		}
	}
	want = append(want, "array", "builtins", "cmath", "errno", "gc", "math", "micropython", "struct", "sys") // of the engine
	slices.Sort(want)
	_, list, _ := strings.Cut(modules["wasmres/missing.py"], "\nMODULES = (")
	list, _, _ = strings.Cut(list, ")")
	if got := strings.Fields(strings.ReplaceAll(list, `"`, "")); !slices.Equal(got, want) {
		t.Errorf("missing.py: MODULES: got\n%q, want\n%q", got, want)
	}
}
