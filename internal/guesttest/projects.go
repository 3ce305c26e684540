package guesttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/project"
)

// sdkLink is what examples in other languages than Go have in the place of a copy of their SDK.
const sdkLink = "wasmres"

// languageOf gives the language of an example that is a project of its own; empty for those in Go, which share a module.
func languageOf(example string) project.Language {
	dir := filepath.Join(source(), example)
	if _, err := os.Stat(filepath.Join(dir, sdkLink)); err != nil {
		return ""
	}
	language, err := project.Detect(dir)
	if err != nil {
		return ""
	}
	return language
}

// buildProject builds a copy of an example, so that nothing is left in its folder.
func buildProject(tb testing.TB, example string, l project.Language) (string, error) {
	tb.Helper()
	dir, err := buildDir()
	if err != nil {
		return "", err
	}
	copied := tb.TempDir()
	if err := copyProject(copied, filepath.Join(source(), example)); err != nil {
		return "", err
	}
	if l == project.AssemblyScript {
		if err := os.Symlink(NodeModules(tb), filepath.Join(copied, "node_modules")); err != nil {
			return "", err
		}
	}
	module, err := project.Build(tb.Context(), copied, l, nil)
	if err != nil {
		return "", err
	}
	scratch, err := os.CreateTemp(dir, "build-")
	if err != nil {
		return "", err
	}
	defer os.Remove(scratch.Name())
	defer scratch.Close()
	if _, err := scratch.Write(module.Binary); err != nil {
		return "", err
	}
	file := filepath.Join(dir, example+".wasm")
	return file, os.Rename(scratch.Name(), file)
}

// copyProject copies what belongs to a project, and nothing that was made of it.
func copyProject(to, from string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		old, fresh := filepath.Join(from, name), filepath.Join(to, name)
		switch {
		case name == "node_modules", name == "target", strings.HasSuffix(name, ".wasm"):
		case name == sdkLink:
			if old, err = filepath.EvalSymlinks(old); err == nil {
				err = os.Symlink(old, fresh)
			}
		case e.IsDir():
			err = os.CopyFS(fresh, os.DirFS(old))
		default:
			var text []byte
			if text, err = os.ReadFile(old); err == nil {
				err = os.WriteFile(fresh, text, 0o600)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
