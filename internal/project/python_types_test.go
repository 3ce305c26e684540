package project_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/project"
)

// newPython makes a project as wasmres new does, with further files.
func newPython(t *testing.T, patterns ...string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "notes")
	if err := project.Create(dir, project.Python, "test"); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, nameOf(file)), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// nameOf makes one name of those of a sample and its folder, as modules have different names.
func nameOf(file string) string {
	if filepath.Base(file) == "provider.py" {
		return "sample_" + filepath.Base(filepath.Dir(file)) + ".py"
	}
	return filepath.Base(file)
}

const (
	typedFiles = "../../testdata/python-types/*.py"
	samples    = "../../testdata/python/*/provider.py"
)

// A new project has tests, which pass.
func TestPythonProjectUnderPytest(t *testing.T) {
	if testing.Short() {
		t.Skip("pytest takes a second")
	}
	python := guesttest.Python(t, "pytest")
	out, err := guesttest.RunPython(t, newPython(t), python, "-m", "pytest", "-q", "-p", "no:cacheprovider")
	if err != nil || !strings.Contains(out, "3 passed") {
		t.Errorf("got %v and\n%s", err, out)
	}
}

// TestPythonTypes has type checkers look at a new project, at files that use the whole surface, and at servers in the
// style of FastMCP and those of pages, which are not typed throughout.
func TestPythonTypes(t *testing.T) {
	if testing.Short() {
		t.Skip("type checkers take seconds")
	}
	dir := newPython(t, typedFiles, samples)
	writePages(t, dir, "../../docs/languages/python.md", "../../docs/porting.md", "../../guest-sdk/python/README.md")
	typed := []string{"provider.py", "surface.py", "fastmcp.py", "mistakes.py"}
	t.Run("mypy", func(t *testing.T) {
		t.Parallel()
		python := guesttest.Python(t, "mypy")
		strict := append([]string{"-m", "mypy", "--cache-dir=" + mypyCache(t, python, "strict"), "test_provider.py"}, typed...)
		out, _ := guesttest.RunPython(t, dir, python, strict...)
		wantMistakes(t, dir, `(?m)^(\w+\.py):(\d+): error:`, out)
		sloppy := append([]string{"-m", "mypy", "--cache-dir=" + mypyCache(t, python, "sloppy"), "--config-file="}, pythonFiles(t, dir, "sample_*.py")...)
		if _, err := guesttest.RunPython(t, dir, python, sloppy...); err != nil {
			t.Error(err)
		}
	})
	t.Run("pyright", func(t *testing.T) {
		t.Parallel()
		pyright := filepath.Join(guesttest.NodeModules(t, project.Python), "pyright", "index.js")
		files := append(typed, slices.DeleteFunc(pythonFiles(t, dir, "sample_*.py"), func(name string) bool {
			text, err := os.ReadFile(filepath.Join(dir, name))
			return err != nil || strings.Contains(string(text), "import pytest") // which it may not find
		})...)
		out, _ := guesttest.RunPython(t, dir, "node", append([]string{pyright}, files...)...)
		wantMistakes(t, dir, `(?m)(\w+\.py):(\d+):\d+ - error`, out)
	})
}

// mypyCache returns a folder in which mypy keeps what it knows of the standard library, by the version of mypy and by the options that it
// gets: it would take most of its time to find that out again.
func mypyCache(t *testing.T, python, options string) (dir string) {
	t.Helper()
	version, err := exec.Command(python, "-m", "mypy", "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	in := guesttest.Inputs{Tools: []string{python}, Args: []string{string(version), options}}
	return guesttest.Made(t, "mypy-cache", in, func(dir string) {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	})
}

// writePages writes the sources of pages as sample_PAGE_NUMBER.py.
func writePages(t *testing.T, dir string, pages ...string) {
	t.Helper()
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks := regexp.MustCompile("(?ms)^```python\n(.*?)^```").FindAllSubmatch(text, -1)
		if len(blocks) == 0 {
			t.Fatalf("%s has no sources", page)
		}
		for i, block := range blocks {
			name := strings.TrimSuffix(filepath.Base(page), ".md")
			file := filepath.Join(dir, fmt.Sprintf("sample_%s_%d.py", strings.ToLower(name), i))
			if err := os.WriteFile(file, block[1], 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func pythonFiles(t *testing.T, dir, pattern string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	for _, file := range files {
		names = append(names, filepath.Base(file))
	}
	return names
}

// wantMistakes compares the lines of mistakes.py that have errors with those that say that they are mistakes. Other files
// have none. expr finds the file and the line of an error.
func wantMistakes(t *testing.T, dir, expr, out string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "mistakes.py"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasSuffix(line, "# mistake") {
			want = append(want, fmt.Sprintf("mistakes.py:%03d", i+1))
		}
	}
	got := map[string]bool{}
	for _, found := range regexp.MustCompile(expr).FindAllStringSubmatch(out, -1) {
		got[fmt.Sprintf("%s:%03s", found[1], found[2])] = true
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("mistakes -, found +:\n%s\n%s", diff, out)
	}
}
