package project

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
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
	_, err := Build(t.Context(), dir, JavaScript, Options{})
	var failed *Failed
	if !errors.As(err, &failed) || !strings.Contains(failed.Output, `there is no file "./link.txt"`) {
		t.Errorf("got %v, want that there is no such file", err)
	}
}

// Building twice makes the same module, named after the package or the folder.
func TestBuildJavaScript(t *testing.T) {
	dir := write(t, map[string]string{scriptEntry: "export default 'an unusual text'", "package.json": `{"name": "@scope/it"}`})
	first, err := Build(t.Context(), dir, JavaScript, Options{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Build(t.Context(), dir, JavaScript, Options{})
	if err != nil || !bytes.Equal(first.Binary, second.Binary) {
		t.Errorf("the second build made another module: %v", err)
	}
	if first.Name != "it" || !strings.HasPrefix(first.Compiler, "QuickJS-NG ") {
		t.Errorf("got %s by %s", first.Name, first.Compiler)
	}
	if !bytes.Contains(first.Binary, []byte("an unusual text")) {
		t.Error("the script is not in the module")
	}
}

// The engine compiles the modules of the SDK that a provider imports.
func TestUsedModules(t *testing.T) {
	if testing.Short() {
		t.Skip("builds providers")
	}
	const head = "import { provider } from 'wasmres'; provider({ name: 'x' }).resource('x://y', () => "
	for text, used := range map[string]bool{
		head + "'');": false, head + "kv.getText('x')); import { kv } from 'wasmres';": true,
		head + "w.kv.getText('x')); import * as w from 'wasmres';": true,
	} {
		m, err := Build(t.Context(), write(t, map[string]string{scriptEntry: text}), JavaScript, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(m.Binary, []byte("the value is not the expected one")); got != used {
			t.Errorf("%s: the module has the key-value store: %t, want %t", text, got, used)
		}
	}
}

// Modules that define globals are packed where they are used.
func TestGlobals(t *testing.T) {
	base := map[string]string{globalsModule: "none"}
	for text, want := range map[string]string{
		"": "", "// The URL of a resource; to fetch it.": "", "const url = new URL(x)": "url", "URL.canParse(x)": "url",
		"typeof globalThis.URL": "url", "x.URL.y": "", "new URLSearchParams()": "url", "root.setTimeout": "timers",
		"await fetch(x)": "fetch",
		"import { fetch } from 'wasmres'; fetch(x)": "", "import {a, fetch, b} from \"wasmres\"\nfetch(x)": "",
		"import { fetch as other } from 'wasmres'; fetch(x)": "fetch", "structuredClone(crypto)": "clone crypto",
	} {
		modules := usedModules(base, []script{{scriptEntry, text}})
		var got []string
		for _, name := range slices.Sorted(maps.Keys(modules)) {
			if module, ok := strings.CutPrefix(name, "wasmres:/web/"); ok {
				got = append(got, strings.TrimSuffix(module, ".js"))
				if !strings.Contains(modules[globalsModule], strconv.Quote(name)) || modules[name] == "" {
					t.Errorf("%q: %s is not imported, or empty", text, name)
				}
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if base[globalsModule] != "none" {
		t.Error("the modules of the SDK were changed")
	}
}
