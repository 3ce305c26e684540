package project

import (
	"fmt"
	"os"
	"path/filepath"
)

// Detect finds out which language the project in dir is written in, by the files that stand there.
func Detect(dir string) (Language, error) {
	if info, err := os.Stat(dir); err != nil {
		return "", err
	} else if !info.IsDir() {
		return "", fmt.Errorf("%s is not a folder", dir)
	}
	var found []Language
	for _, l := range Languages() {
		if l.isMarked(dir) {
			found = append(found, l)
		}
	}
	// Sources in C stand in projects of other languages too.
	if len(found) == 2 && found[1] == C {
		found = found[:1]
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%s is no project: it has no go.mod, Cargo.toml, asconfig.json, provider.js or file in C; 'wasmres new' makes one", dir)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s could be a project in any of the languages %s: say which with --lang", dir, names(found))
}

func (l Language) isMarked(dir string) bool {
	for _, mark := range l.traits().marks {
		if files, _ := filepath.Glob(filepath.Join(escapeGlob(dir), mark)); len(files) > 0 {
			return true
		}
	}
	return false
}
