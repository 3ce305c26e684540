package project

import (
	"os/exec"
	"strings"
)

// A Toolchain has the installed and the missing tools for one language.
type Toolchain struct {
	Language string   `json:"language"`
	Found    []string `json:"found"`   // paths of the tools
	Missing  []string `json:"missing"` // names of tools
	Needs    string   `json:"needs"`   // tools of a build, with versions
}

// tools has the programs of a build, by language.
var tools = map[Language][]string{
	Go: {"go"}, Rust: {"cargo"}, C: {"clang", "wasm-ld"}, AssemblyScript: {"node", "npm"}, JavaScript: nil,
	TypeScript: {"node", "npm"}, Python: nil,
}

// Toolchains looks for the tools of each language. It does not run them, and so does not check their versions.
func Toolchains() (all []Toolchain) {
	for _, l := range Languages() {
		one := Toolchain{Language: l.Title(), Found: []string{}, Missing: []string{}, Needs: strings.ReplaceAll(l.info().needs, "`", "")}
		for _, tool := range tools[l] {
			if path, err := exec.LookPath(tool); err == nil {
				one.Found = append(one.Found, path)
			} else {
				one.Missing = append(one.Missing, tool)
			}
		}
		all = append(all, one)
	}
	return all
}
