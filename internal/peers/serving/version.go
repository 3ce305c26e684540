package main

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// version gives the version of a module the program was built with; empty when unknown.
func (b *built) version(program, module string) string {
	info, err := buildinfo.ReadFile(filepath.Join(b.dir, program))
	if err != nil {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == module {
			return strings.TrimPrefix(m.Version, "v")
		}
	}
	return ""
}

// revision gives the commit of the sources, with a + for what is not in it; empty when unknown.
func (b *built) revision() string {
	rev, err := exec.Command("git", "-C", b.root, "describe", "--always", "--dirty=+").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(rev))
}

// scriptVersion gives the version of the TypeScript SDK; empty when unknown.
func (b *built) scriptVersion() string {
	file := filepath.Join(b.peers(), "js", "node_modules", "@modelcontextprotocol", "server", "package.json")
	text, err := os.ReadFile(file)
	var p struct{ Version string }
	if err != nil || json.Unmarshal(text, &p) != nil {
		return ""
	}
	return p.Version
}
