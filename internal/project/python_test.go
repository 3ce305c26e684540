package project

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestCollectPython(t *testing.T) {
	library := map[string]string{
		"wasmres/__init__.py": "from .serve import run\n", "wasmres/serve.py": "", "wasmres/unused.py": "",
		"_builtins.py": "", "_files.py": "import os\n", "os.py": "", "never.py": "",
	}
	own, sdk, err := collectPython(folder(map[string]string{
		"provider.py": "import json, pack.a as a\nfrom wasmres import (\n    Provider,\n    Text,\n)\n" +
			"if True:\n    from b import x; import c # import d\nopen('x')\n\"import e\"\n",
		"pack/__init__.py":     "from . import f\n",
		"pack/a.py":            "from .sub.g import *\nfrom ..h import i\n",
		"pack/f.py":            "",
		"pack/sub/g.py":        "",
		"b.py":                 "",
		"h.py":                 "",
		"e.py":                 "",
		"wasmres/__init__.pyi": "",
		"wasmres/serve.py":     "the library's comes first",
		"test_provider.py":     "",
	}), library)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range slices.Concat(own, sdk) {
		got[s.name] = s.text
	}
	want := []string{
		"_builtins.py", "_files.py", "b.py", "h.py", "os.py", "pack/__init__.py", "pack/a.py", "pack/f.py", "pack/sub/g.py", "provider.py",
		"wasmres/__init__.py", "wasmres/serve.py",
	}
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, want) || own[0].name != pythonEntry {
		t.Errorf("got %q, the entry %s", names, own[0].name)
	}
	for _, s := range sdk {
		if _, ok := library[s.name]; !ok {
			t.Errorf("%s counts as a file of the library", s.name)
		}
	}
	if got["wasmres/serve.py"] != "" {
		t.Error("a file of the project took the place of one of the library")
	}
}

// Packages of others are imported by their names; a file of the project comes before one of theirs.
func TestCollectVendoredPython(t *testing.T) {
	own, _, err := collectPython(vendored{folder(map[string]string{
		"provider.py": "import marks, shapes.round\n", "marks.py": "own = True\n", "vendor/marks.py": "own = False\n",
		"vendor/shapes/__init__.py": "", "vendor/shapes/round.py": "from . import base\n", "vendor/shapes/base.py": "",
		"vendor/never.py": "",
	})}, map[string]string{"_builtins.py": "", "wasmres/__init__.py": ""})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range own {
		names = append(names, s.name)
		if s.name == "marks.py" && s.text != "own = True\n" {
			t.Error("a package of others took the place of a file of the project")
		}
	}
	slices.Sort(names)
	want := []string{"marks.py", "provider.py", "shapes/__init__.py", "shapes/base.py", "shapes/round.py"}
	if !slices.Equal(names, want) {
		t.Errorf("got %q", names)
	}
}

func TestPythonThatCannotBePacked(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no entry":  {map[string]string{"x.py": ""}, "provider.py: file does not exist"},
		"no text":   {map[string]string{pythonEntry: "\xff"}, "provider.py is not UTF-8"},
		"too large": {map[string]string{pythonEntry: strings.Repeat(" ", maxScriptBytes+1)}, "at most 1000 files and 8 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := collectPython(folder(tt.files), nil); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
