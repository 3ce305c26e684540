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
		"_files.py": "import os\n", "os.py": "", "never.py": "",
	}
	found, err := collectPython(folder(map[string]string{
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
	for _, s := range found {
		got[s.name] = s.text
	}
	want := []string{
		"_files.py", "b.py", "h.py", "os.py", "pack/__init__.py", "pack/a.py", "pack/f.py", "pack/sub/g.py", "provider.py",
		"wasmres/__init__.py", "wasmres/serve.py",
	}
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, want) || found[0].name != pythonEntry {
		t.Errorf("got %q, the entry %s", names, found[0].name)
	}
	if got["wasmres/serve.py"] != "" {
		t.Error("a file of the project took the place of one of the library")
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
			if _, err := collectPython(folder(tt.files), nil); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
