package project

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	guestsdk "github.com/wasmres/wasmres/guest-sdk"
	"github.com/wasmres/wasmres/runtime/wasm"
)

func folder(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func TestCollectScripts(t *testing.T) {
	found, err := collectScripts(folder(map[string]string{
		"provider.js":    "import './lib/a.js'; import data from \"./data.json\"; import('./later.mjs'); // './gone.js'\n",
		"lib/a.js":       "import \"../b.js\"; import '../provider.js'; import \"../../outside.js\"; import './sub';\n",
		"lib/sub/x.js":   "a folder is none\n",
		"b.js":           "import t from `./t.md`; open('./types.d.ts'); import \"lodash\"\n",
		"t.md":           "\"Quoted\"\n\u2028</script> './unused.js'",
		"data.json":      `{"__proto__": 1}`,
		"later.mjs":      "",
		"unused.js":      "",
		"types.d.ts":     "",
		"wasmres/own.js": "",
	}))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range found {
		got[s.name] = s.text
	}
	want := []string{"b.js", "data.json", "later.mjs", "lib/a.js", "provider.js", "t.md"}
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, want) || found[0].name != scriptEntry {
		t.Errorf("got %q, the entry %s", names, found[0].name)
	}
	for name, want := range map[string]string{
		"data.json": `export default JSON.parse("{\"__proto__\": 1}");` + "\n",
		"t.md":      `export default "\"Quoted\"\n\u2028</script> './unused.js'";` + "\n",
	} {
		if got[name] != want {
			t.Errorf("%s: got %s, want %s", name, got[name], want)
		}
	}
}

func TestScriptsThatCannotBePacked(t *testing.T) {
	many := map[string]string{}
	for i := range maxScripts {
		many[fmt.Sprintf("%d.js", i)] = ""
		many[scriptEntry] += fmt.Sprintf("import './%d.js';\n", i)
	}
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no entry":  {map[string]string{"x.js": ""}, "provider.js: file does not exist"},
		"no text":   {map[string]string{scriptEntry: "\xff"}, "provider.js is not UTF-8"},
		"no JSON":   {map[string]string{scriptEntry: "'./x.json'", "x.json": "{"}, "x.json: unexpected end of JSON"},
		"too many":  {many, "at most 1000 files and 8 MiB"},
		"too large": {map[string]string{scriptEntry: strings.Repeat(" ", maxScriptBytes+1)}, "at most 1000 files and 8 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := collectScripts(folder(tt.files)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// A link does not lead out of the project.
func TestScriptsStayInTheProject(t *testing.T) {
	outside := write(t, map[string]string{"secret.txt": "secret"})
	dir := write(t, map[string]string{scriptEntry: "import s from './link.txt';"})
	if err := os.Symlink(filepath.Join(outside, "secret.txt"), filepath.Join(dir, "link.txt")); err != nil {
		t.Skip(err)
	}
	m, err := Build(t.Context(), dir, JavaScript, nil)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(m.Binary, []byte(`"secret"`)) {
		t.Error("a file outside of the project was packed")
	}
}

// Building twice makes the same module, named after the package or the folder.
func TestBuildJavaScript(t *testing.T) {
	dir := write(t, map[string]string{scriptEntry: "// an unusual text", "package.json": `{"name": "@scope/it"}`})
	first, err := Build(t.Context(), dir, JavaScript, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Build(t.Context(), dir, JavaScript, nil)
	if err != nil || !bytes.Equal(first.Binary, second.Binary) {
		t.Errorf("the second build made another module: %v", err)
	}
	if first.Name != "it" || !strings.HasPrefix(first.Compiler, "QuickJS-NG ") {
		t.Errorf("got %s by %s", first.Name, first.Compiler)
	}
	if !bytes.Contains(first.Binary, []byte("// an unusual text")) {
		t.Error("the script is not in the module")
	}
}

func TestInject(t *testing.T) {
	engine := guestsdk.JavaScriptEngine()
	before, err := inspect(engine.Module, engine.Entry)
	if err != nil {
		t.Fatal(err)
	}
	once, err := inject(engine.Module, engine.Entry, []byte("first"))
	if err != nil {
		t.Fatal(err)
	}
	twice, err := inject(once, engine.Entry, []byte("second")) // a module that has a count of its segments
	if err != nil {
		t.Fatal(err)
	}
	after, err := inspect(twice, engine.Entry)
	if err != nil || after.segments != before.segments+2 || after.function != before.function {
		t.Errorf("got %+v, %v, before it was %+v", after, err, before)
	}
	counts := 0
	for s, err := range wasm.Sections(twice) {
		if err != nil {
			t.Fatal(err)
		}
		if s.ID == wasm.SectionDataCount {
			counts++
		}
	}
	if counts != 1 {
		t.Errorf("%d sections count the segments", counts)
	}
	const head = "\x00asm\x01\x00\x00\x00"
	for _, bad := range []string{
		"", "MZ", head, head + "\x07\x05\x01\x01f\x00\x00", head + "\x0b\x01\x05", head + "\x02\x08\x01\x01m\x01g\x03\x7f\x00",
	} {
		if _, err := inject([]byte(bad), "f", nil); err == nil {
			t.Errorf("%q: something was injected", bad)
		}
	}
}
