package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const nodeAdvice = "get Node.js 20 or newer at https://nodejs.org"

func compileAssemblyScript(b *builder) error {
	if find("node") == "" {
		return &Missing{"Node.js", advice{mac: "brew install node", anywhere: nodeAdvice}.forThisOS()}
	}
	asc := findNodeProgram(b.dir, "asc")
	if asc == "" {
		install := "npm install"
		if _, err := os.Stat(b.path("package.json")); err != nil {
			install += " --save-dev assemblyscript"
		}
		return &Missing{"the AssemblyScript compiler", fmt.Sprintf("in %s, run %s", b.dir, install)}
	}
	b.compiler = "asc " + ascVersion(b, asc)
	var about struct{ Name string }
	if err := readJSON(b.path("package.json"), &about); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	b.name = path.Base(about.Name)
	entry, err := entryFile(b)
	if err != nil {
		return err
	}
	_, err = b.run(command{path: asc, args: append(entry, "--debug", "-o", b.module)})
	return err
}

// ascVersion returns the version of a compiler: that of its package or, where asc is not a link into one, what it says itself. It takes
// as long to say so as half of a small provider to be compiled.
func ascVersion(b *builder, asc string) string {
	var about struct{ Name, Version string }
	if real, err := filepath.EvalSymlinks(asc); err == nil {
		err = readJSON(filepath.Join(filepath.Dir(real), "..", "package.json"), &about)
		if err == nil && about.Name == "assemblyscript" && about.Version != "" {
			return about.Version
		}
	}
	return strings.TrimPrefix(b.ask(asc, "--version"), "Version ")
}

// findNodeProgram looks for a program in node_modules of the project and of the directories above it, then in PATH.
func findNodeProgram(dir, name string) string {
	for ; ; dir = filepath.Dir(dir) {
		if program := find(filepath.Join(dir, nodeModules, ".bin", name)); program != "" {
			return program
		}
		if dir == filepath.Dir(dir) {
			return find(name)
		}
	}
}

// entryFile returns the arguments that name the file to compile; none if asconfig.json names it.
func entryFile(b *builder) ([]string, error) {
	var config struct{ Entries []string }
	if err := readJSON(b.path("asconfig.json"), &config); err != nil || len(config.Entries) > 0 {
		return nil, err
	}
	const defaultEntry = "assembly/index.ts"
	if _, err := os.Stat(b.path(defaultEntry)); err != nil {
		return nil, errors.New(`asconfig.json names no file to compile: add "entries": ["FILE.ts"]`)
	}
	return []string{defaultEntry}, nil
}

func readJSON(file string, v any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
