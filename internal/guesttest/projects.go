package guesttest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/internal/sourcetree"
)

// sdkLink is what examples in other languages than Go have in the place of a copy of their SDK.
const sdkLink = "wasmres"

// languageOf returns the language of an example that is a project of its own; empty for those in Go, which share a
// module.
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
	r := newRecipe()
	r.add("tools", []byte(tools(l)))
	for _, dir := range []string{
		filepath.Join(source(), example), filepath.Join(source(), example, sdkLink), filepath.Join(sourcetree.Root(), "internal", "project"),
	} {
		r.addTree(dir)
	}
	return shared(example+".wasm", r, func(file string) error {
		copied := tb.TempDir()
		if err := copyProject(copied, filepath.Join(source(), example)); err != nil {
			return err
		}
		if NeedsNode(l) {
			if err := os.Symlink(NodeModules(tb, l), filepath.Join(copied, "node_modules")); err != nil {
				return err
			}
		}
		module, err := project.Build(tb.Context(), copied, l, project.Options{})
		if err != nil {
			return err
		}
		return os.WriteFile(file, module.Binary, 0o600)
	})
}

// tools returns the versions of the programs that build a language. Those that are missing have none.
func tools(l project.Language) string {
	programs := map[project.Language][]string{
		project.Rust: {"rustc", "cargo"}, project.C: {"clang", "wasm-ld"}, project.AssemblyScript: {"node"},
	}
	return versions(programs[l])
}

// versions returns what programs say of their versions, and nothing for those that are missing.
func versions(programs []string) string {
	var all strings.Builder
	for _, program := range programs {
		version, _ := exec.Command(program, "--version").Output()
		fmt.Fprintf(&all, "%s: %s\n", program, version)
	}
	return all.String()
}

// addTree adds the files of a folder, but for tests and what was made from the others.
func (r *recipe) addTree(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil && r.err == nil {
		r.err = err
	}
	for _, e := range entries {
		switch path := filepath.Join(dir, e.Name()); {
		case isMade(e.Name()), strings.HasSuffix(e.Name(), "_test.go"):
		case e.IsDir():
			r.add("folder", []byte(e.Name()))
			r.addTree(path)
		case e.Type().IsRegular():
			r.addFile(path)
		}
	}
}

// isMade reports whether a file of a project is made from the others.
func isMade(name string) bool {
	return name == "node_modules" || name == "target" || strings.HasSuffix(name, ".wasm")
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
		case isMade(name):
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
