package project

import (
	"os/exec"
	"strings"
)

// A Toolchain says whether the tools are there that build projects in one language.
type Toolchain struct {
	Language string   `json:"language"`
	Found    []string `json:"found"`   // paths of the tools
	Missing  []string `json:"missing"` // names of those that are not there
	Needs    string   `json:"needs"`   // what a build takes, versions included
}

// tools are the programs that builds run, by language.
var tools = map[Language][]string{
	Go: {"go"}, Rust: {"cargo"}, C: {"clang", "wasm-ld"}, AssemblyScript: {"node", "npm"}, JavaScript: nil,
}

// Toolchains looks for the tools of each language. It runs none, so that versions are not looked at.
func Toolchains() (all []Toolchain) {
	for _, l := range Languages() {
		one := Toolchain{Language: l.Title(), Found: []string{}, Missing: []string{}, Needs: strings.ReplaceAll(l.traits().needs, "`", "")}
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
