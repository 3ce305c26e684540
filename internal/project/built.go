package project

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoProject says that a folder has no project in it.
var ErrNoProject = errors.New("it is no project")

// Built gives the module that [Build] has made of the project in dir, and [ErrNoProject] where there is none. Of several
// modules it is the one that is called as the folder is.
func Built(dir string) (file string, err error) {
	if _, err := Detect(dir); err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoProject, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	whole, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	var modules []string
	for _, e := range entries {
		name := e.Name()
		if !e.Type().IsRegular() || !strings.HasSuffix(name, ".wasm") || strings.HasSuffix(name, ".debug.wasm") || name[0] == '.' {
			continue
		}
		if name == filepath.Base(whole)+".wasm" {
			return filepath.Join(dir, name), nil
		}
		modules = append(modules, name)
	}
	switch len(modules) {
	case 0:
		return "", errors.New("the project in this folder has not been built: run 'wasmres build'")
	case 1:
		return filepath.Join(dir, modules[0]), nil
	}
	return "", fmt.Errorf("the project in this folder has several modules, %s: say which", strings.Join(modules, ", "))
}
