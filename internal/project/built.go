package project

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoProject means that a directory has no project.
var ErrNoProject = errors.New("not a project")

// Built returns the path of the built module in a project's directory. Of several modules it takes the one with the
// name of the directory. Without a project the error is [ErrNoProject].
func Built(dir string) (file string, err error) {
	if _, err := Detect(dir); err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoProject, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	var modules []string
	for _, e := range entries {
		name := e.Name()
		if !e.Type().IsRegular() || !strings.HasSuffix(name, ".wasm") || strings.HasSuffix(name, ".debug.wasm") || name[0] == '.' {
			continue
		}
		if name == filepath.Base(absolute)+".wasm" {
			return filepath.Join(dir, name), nil
		}
		modules = append(modules, name)
	}
	switch len(modules) {
	case 0:
		return "", errors.New("the project is not built: run 'wasmres build'")
	case 1:
		return filepath.Join(dir, modules[0]), nil
	}
	return "", fmt.Errorf("the project has several modules, %s: name one of them", strings.Join(modules, ", "))
}
