package project

import (
	"fmt"
	"strings"
)

// A Language is one that providers can be written in.
type Language string

// The languages.
const (
	Go             Language = "go"
	Rust           Language = "rust"
	C              Language = "c"
	AssemblyScript Language = "assemblyscript"
	JavaScript     Language = "javascript"
)

// Languages gives all of them.
func Languages() []Language { return []Language{Go, Rust, C, AssemblyScript, JavaScript} }

// A trait is what is particular to a language.
type trait struct {
	title   string
	marks   []string // a project has one of these files
	compile func(*builder) error

	source string   // of a new project: the file to start with
	ignore string   // what git is to ignore
	first  []string // commands to say once, before the first build
	test   string   // the command that tests without wasmres; empty for none
	needs  string   // for building
}

// traits gives what is particular to l.
func (l Language) traits() trait {
	switch l {
	case Go:
		return trait{
			title: "Go", marks: []string{"go.mod"}, compile: compileGo,
			source: "main.go", ignore: "*.wasm", test: "go test .", needs: "Go 1.24 or newer",
		}
	case Rust:
		return trait{
			title: "Rust", marks: []string{"Cargo.toml"}, compile: compileRust,
			source: "src/lib.rs", ignore: "*.wasm\n/target/", test: "cargo test",
			needs: "Rust 1.63 or newer with the target `" + rustTarget + "`",
		}
	case AssemblyScript:
		return trait{
			title: "AssemblyScript", marks: []string{"asconfig.json"}, compile: compileAssemblyScript,
			source: "provider.ts", ignore: "*.wasm\n/node_modules/", first: []string{"npm install"},
			needs: "Node.js 20 or newer with npm, and once `npm install`",
		}
	case JavaScript:
		return trait{
			title: "JavaScript", marks: []string{scriptEntry}, compile: compileJavaScript,
			source: scriptEntry, ignore: "*.wasm", needs: "nothing but wasmres",
		}
	case C:
		return trait{
			title: "C", marks: []string{"compile_flags.txt", "*.c"}, compile: compileC,
			source: "provider.c", ignore: "*.wasm", needs: "clang 14 or newer and wasm-ld",
		}
	}
	return trait{}
}

// Title is the language's name for people.
func (l Language) Title() string { return l.traits().title }

// ParseLanguage reads the name of a language.
func ParseLanguage(name string) (Language, error) {
	for _, l := range Languages() {
		if string(l) == name {
			return l, nil
		}
	}
	return "", fmt.Errorf("%q is none of the languages %s", name, names(Languages()))
}

func names(languages []Language) string {
	var all []string
	for _, l := range languages {
		all = append(all, string(l))
	}
	return strings.Join(all, ", ")
}
