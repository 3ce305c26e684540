package project

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestCreate(t *testing.T) {
	placeholder := regexp.MustCompile(`@[A-Z]+@`)
	for _, l := range Languages() {
		t.Run(string(l), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "deep", "my_notes")
			if err := Create(dir, l, "v1.2.3"); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"README.md", ".gitignore", l.info().source, "wasmres/README.md"} {
				text, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				if word := placeholder.Find(text); word != nil {
					t.Errorf("%s has %s in it", name, word)
				}
			}
			source, _ := os.ReadFile(filepath.Join(dir, l.info().source))
			if !strings.Contains(string(source), "my-notes://about") || strings.Contains(string(source), "my_notes://") {
				t.Errorf("the scheme of my_notes is not my-notes:\n%s", source)
			}
			if got, err := Detect(dir); got != l || err != nil {
				t.Errorf("detected %v, %v", got, err)
			}
			if err := Create(dir, l, "v1.2.3"); err == nil || !strings.Contains(err.Error(), "is not empty") {
				t.Errorf("once more: got %v", err)
			}
		})
	}
}

// A folder that is there and empty does, and one that cannot be made does not.
func TestCreateInFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "notes")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Create(dir, Go, "v1.2.3"); err != nil {
		t.Error(err)
	}
	if err := Create(filepath.Join(dir, "main.go", "notes"), Go, "v1.2.3"); err == nil {
		t.Error("a project was made below a file")
	}
}

func TestCheckName(t *testing.T) {
	for name, want := range map[string]string{
		"notes": "", "n": "", "my-notes_2": "", strings.Repeat("a", 64): "",
		"": "begins with", "2notes": "begins with", "Notes": "begins with", "-n": "begins with", "a b": "begins with",
		"a/b": "begins with", "..": "begins with", "nötes": "begins with", "a\n": "begins with",
		strings.Repeat("a", 65): "has 65 bytes",
		"wasmres":               "name of the SDK", "file": "clients give",
	} {
		err := CheckName(name)
		if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", name, err, want)
		}
	}
}

func TestQuoted(t *testing.T) {
	for path, want := range map[string]string{
		"a/b-c_d.e": "a/b-c_d.e", "a b": "'a b'", "a'b": `'a'\''b'`, "$(x)": "'$(x)'", "ä": "'ä'",
	} {
		if got := quoted(path); got != want {
			t.Errorf("%q: got %s, want %s", path, got, want)
		}
	}
}

// The project's compiler is the one that the SDK is tested with.
func TestLockfileIsThatOfTheSDK(t *testing.T) {
	packages := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, ok := strings.Cut(string(text), `"node_modules/assemblyscript"`)
		if !ok {
			t.Fatalf("%s locks no compiler", file)
		}
		return rest
	}
	mine := packages("templates/assemblyscript/package-lock.json.tmpl")
	if mine != packages("../../guest-sdk/assemblyscript/package-lock.json") {
		t.Error("the lockfile of new projects differs from name of the SDK: copy it")
	}
}

// The compilers of a new project in TypeScript are those that tests use.
func TestTypeScriptPackagesAreTested(t *testing.T) {
	tested := struct{ DevDependencies map[string]string }{}
	if err := readJSON("../../testdata/npm/package.json", &tested); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "notes")
	if err := Create(dir, TypeScript, "v1.2.3"); err != nil {
		t.Fatal(err)
	}
	fresh, lock := struct{ DevDependencies map[string]string }{}, struct {
		Packages map[string]struct{ Version string }
	}{}
	if err := errors.Join(readJSON(filepath.Join(dir, "package.json"), &fresh), readJSON(filepath.Join(dir, "package-lock.json"), &lock)); err != nil {
		t.Fatal(err)
	}
	if len(fresh.DevDependencies) == 0 {
		t.Error("a new project has no compilers")
	}
	for name, version := range fresh.DevDependencies {
		if tested.DevDependencies[name] != version || lock.Packages["node_modules/"+name].Version != version {
			t.Errorf("%s: the project has %s, its lockfile %s, and the tests have %s", name, version,
				lock.Packages["node_modules/"+name].Version, tested.DevDependencies[name])
		}
	}
}
