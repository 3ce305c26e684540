package project

import (
	"fmt"
	"strings"
)

// A Language is a programming language that has a guest SDK.
type Language string

// The languages.
const (
	Go             Language = "go"
	Rust           Language = "rust"
	C              Language = "c"
	AssemblyScript Language = "assemblyscript"
	JavaScript     Language = "javascript"
	TypeScript     Language = "typescript"
	Python         Language = "python"
)

// Languages returns all languages.
func Languages() []Language {
	return []Language{Go, Rust, C, AssemblyScript, JavaScript, TypeScript, Python}
}

// A languageInfo describes the projects of a language.
type languageInfo struct {
	title   string
	files   []string // patterns; a project has at least one of these files
	compile func(*builder) error

	source string   // the file to edit first in a new project
	ignore string   // of .gitignore
	setup  []string // commands before the first build
	test   string   // command that tests without wasmres; empty for none
	needs  string   // tools of a build
}

// info returns the description of l; zero for an unknown language.
func (l Language) info() languageInfo {
	switch l {
	case Go:
		return languageInfo{
			title: "Go", files: []string{"go.mod"}, compile: compileGo,
			source: "main.go", ignore: "*.wasm", test: "go test .", needs: "Go 1.24 or newer",
		}
	case Rust:
		return languageInfo{
			title: "Rust", files: []string{"Cargo.toml"}, compile: compileRust,
			source: "src/lib.rs", ignore: "*.wasm\n/target/", test: "cargo test",
			needs: "Rust 1.63 or newer with the target `" + rustTarget + "`",
		}
	case AssemblyScript:
		return languageInfo{
			title: "AssemblyScript", files: []string{"asconfig.json"}, compile: compileAssemblyScript,
			source: "provider.ts", ignore: "*.wasm\n/node_modules/", setup: []string{"npm install"},
			needs: "Node.js 20 or newer with npm, and once `npm install`",
		}
	case JavaScript:
		return languageInfo{
			title: "JavaScript", files: []string{scriptEntry}, compile: compileJavaScript,
			source: scriptEntry, ignore: "*.wasm", needs: "nothing but wasmres",
		}
	case TypeScript:
		return languageInfo{
			title: "TypeScript", files: []string{typeScriptEntry}, compile: compileTypeScript,
			source: typeScriptEntry, ignore: "*.wasm\n/node_modules/", setup: []string{"npm install"}, test: "npm test",
			needs: "Node.js 20 or newer with npm, and once `npm install`",
		}
	case Python:
		return languageInfo{
			title: "Python", files: []string{pythonEntry}, compile: compilePython,
			source: pythonEntry, ignore: "*.wasm\n__pycache__/\n.*_cache/", test: "python3 -m pytest", needs: "nothing but wasmres",
		}
	case C:
		return languageInfo{
			title: "C", files: []string{"compile_flags.txt", "*.c"}, compile: compileC,
			source: "provider.c", ignore: "*.wasm", needs: "clang 14 or newer and wasm-ld",
		}
	}
	return languageInfo{}
}

// Title returns the name of the language as people write it.
func (l Language) Title() string { return l.info().title }

// ParseLanguage returns the language with a name, as in "go".
func ParseLanguage(name string) (Language, error) {
	for _, l := range Languages() {
		if string(l) == name {
			return l, nil
		}
	}
	return "", fmt.Errorf("unknown language %q: choose one of %s", name, names(Languages()))
}

func names(languages []Language) string {
	var all []string
	for _, l := range languages {
		all = append(all, string(l))
	}
	return strings.Join(all, ", ")
}
