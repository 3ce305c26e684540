package project

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	guestsdk "github.com/wasmres/wasmres/guest-sdk"
)

// templates has a directory for each language, and project for the files of all projects. Files have the suffix .tmpl, so
// that no tool takes them for sources. Create replaces the words between at signs.
//
//go:embed all:templates
var templates embed.FS

// sdkDir is the directory of a project's copy of the SDK.
const sdkDir = "wasmres"

// Create makes a project in the directory dir, which must be empty or not exist. The last part of dir is the project's
// name. The project gets a copy of the SDK; version is the version of wasmres.
func Create(dir string, l Language, version string) error {
	name := filepath.Base(dir)
	if err := CheckName(name); err != nil {
		return err
	}
	files, err := contents(name, l, version)
	if err != nil {
		return err
	}
	if err := makeEmptyDir(dir); err != nil {
		return err
	}
	for file, text := range files {
		file = filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// makeEmptyDir makes a directory, or does nothing if it exists and is empty.
func makeEmptyDir(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.MkdirAll(dir, 0o755)
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("directory %s is not empty: choose another name, or empty it", dir)
	}
	return nil
}

// contents returns the files of a new project by slash-separated path.
func contents(name string, l Language, version string) (map[string]string, error) {
	sdk, err := guestsdk.Files(string(l))
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for file, text := range sdk {
		files[sdkDir+"/"+file] = text
	}
	for _, dir := range []string{"templates/project", "templates/" + string(l)} {
		if err := addTemplates(files, dir, replacements(name, l, version)); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func addTemplates(files map[string]string, dir string, words *strings.Replacer) error {
	return fs.WalkDir(templates, dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := templates.ReadFile(file)
		file = strings.TrimPrefix(strings.TrimSuffix(file, ".tmpl"), dir+"/")
		files[path.Clean(file)] = words.Replace(string(text))
		return err
	})
}

func replacements(name string, l Language, version string) *strings.Replacer {
	t := l.info()
	commands := slices.Clone(t.setup)
	if t.test != "" {
		commands = append(commands, t.test)
	}
	return strings.NewReplacer(
		"@NAME@", name, "@SCHEME@", Scheme(name), "@LANGUAGE@", t.title, "@SOURCE@", t.source,
		"@COMMANDS@", strings.Join(append(commands, "wasmres build"), "\n    "), "@NEEDS@", t.needs, "@IGNORE@", t.ignore,
		"@VERSION@", version,
	)
}

// Steps returns the shell commands from the files of a new project in dir to its first read.
func Steps(dir string, l Language) []string {
	name, t := filepath.Base(dir), l.info()
	enter := strings.Join(append([]string{"cd " + quoted(dir)}, t.setup...), " && ")
	read := fmt.Sprintf("wasmres read %s.wasm %s://about", name, Scheme(name))
	return []string{enter, "wasmres build", fmt.Sprintf("wasmres test %s.wasm", name), read}
}

// quoted returns a path as one word of a shell command.
func quoted(path string) string {
	if regexp.MustCompile(`^[A-Za-z0-9_./\\:+,@%-]+$`).MatchString(path) && !strings.HasPrefix(path, "-") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
