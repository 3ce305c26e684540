package project

import (
	"fmt"
	"os"
	"path/filepath"
)

// Detect returns the language of the project in dir, by the names of its files.
func Detect(dir string) (Language, error) {
	if info, err := os.Stat(dir); err != nil {
		return "", err
	} else if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", dir)
	}
	var found []Language
	for _, l := range Languages() {
		if l.hasProject(dir) {
			found = append(found, l)
		}
	}
	// An entry of AssemblyScript may have the name of one of TypeScript.
	if len(found) == 2 && found[0] == AssemblyScript && found[1] == TypeScript {
		found = found[:1]
	}
	// Projects in other languages may have C files too.
	if len(found) == 2 && found[1] == C {
		found = found[:1]
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%s has no go.mod, Cargo.toml, asconfig.json, provider.js, provider.ts, provider.py or C file: make a project with 'wasmres new'", dir)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s has projects in the languages %s: choose one with --lang", dir, names(found))
}

func (l Language) hasProject(dir string) bool {
	for _, pattern := range l.info().files {
		if files, _ := filepath.Glob(filepath.Join(escapeGlob(dir), pattern)); len(files) > 0 {
			return true
		}
	}
	return false
}
