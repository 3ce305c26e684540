package project

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	guestsdk "github.com/wasmres/wasmres/guest-sdk"
)

// globalsModule is the module of the SDK that imports those of globals.
const globalsModule = "wasmres:/globals.js"

// globals has the names that modules of the SDK define, which are packed only where a script uses one.
var globals = map[string][]string{
	"wasmres:/web/abort.js":  {"AbortController", "AbortSignal"},
	"wasmres:/web/clone.js":  {"structuredClone"},
	"wasmres:/web/crypto.js": {"crypto"},
	"wasmres:/web/fetch.js":  {"fetch", "Headers", "Request", "Response"},
	"wasmres:/web/timers.js": {
		"setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate",
	},
	"wasmres:/web/url.js": {"URL", "URLSearchParams"},
}

// usedModules returns the modules of the SDK that the scripts use, together with those that define globals.
func usedModules(modules map[string]string, scripts []script) map[string]string {
	modules, web := maps.Clone(modules), guestsdk.JavaScriptWeb()
	modules[indexModule] = usedIndex(modules[indexModule], scripts)
	var imports strings.Builder
	for _, module := range slices.Sorted(maps.Keys(globals)) {
		if slices.ContainsFunc(globals[module], func(name string) bool { return useGlobal(scripts, name) }) {
			modules[module] = web[module]
			fmt.Fprintf(&imports, "import %q;\n", module)
		}
	}
	if imports.Len() > 0 {
		modules[globalsModule] = imports.String()
	}
	return modules
}

// indexModule is what a provider imports as "wasmres", and sdkExport finds the names that it exports from a module.
const indexModule = "wasmres:/index.js"

var sdkExport = expression(`(?m)^export \{ (.*) \} from ".*";\n`)

// usedIndex returns the text of indexModule without the exports whose names are in no script. The engine compiles only
// modules that others import.
func usedIndex(index string, scripts []script) string {
	return sdkExport().ReplaceAllStringFunc(index, func(statement string) string {
		for name := range strings.SplitSeq(sdkExport().FindStringSubmatch(statement)[1], ", ") {
			if slices.ContainsFunc(scripts, func(s script) bool { return strings.Contains(s.text, name) }) {
				return statement
			}
		}
		return ""
	})
}

// ordinary are the globals that are words of comments and texts, too: uses of them are looked for more closely, since
// their modules are large.
var ordinary = []string{"URL", "fetch", "Headers", "Request", "Response"}

// useGlobal reports whether a script may use a global: a text that is a use only by its looks does no harm.
func useGlobal(scripts []script, name string) bool {
	pattern := `\b` + name + `\b`
	if slices.Contains(ordinary, name) {
		pattern = `(?:new|typeof|instanceof|extends)\s+` + name + `\b|\b(?:globalThis|global|root|self|window)\.` + name + `\b|` +
			`(?:^|[^.\w$])` + name + `\s*(?:\(|\.[a-z])`
	}
	use := regexp.MustCompile(pattern)
	return slices.ContainsFunc(scripts, func(s script) bool {
		return use.MatchString(s.text) && !(name == "fetch" && sdkFetch().MatchString(s.text))
	})
}

// sdkFetch matches the import of fetch from the SDK, where the name does not stand for the global one.
var sdkFetch = expression(`import\s*\{[^}]*\bfetch\b\s*[,}][^;]*?from\s*["']wasmres["']`)
