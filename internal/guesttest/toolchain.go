package guesttest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/internal/sourcetree"
)

// Missing ends a test for want of a tool that others may not have: it is skipped, or it fails with
// WASMRES_TOOLCHAINS=all in the environment.
func Missing(tb testing.TB, format string, args ...any) {
	tb.Helper()
	if os.Getenv("WASMRES_TOOLCHAINS") == "all" {
		tb.Fatalf("NOT TESTED: "+format, args...)
	}
	tb.Skipf("NOT TESTED: "+format, args...)
}

// nodePackages has the directories, from the root of the source tree, with the lockfiles of languages.
var nodePackages = map[project.Language]string{
	project.AssemblyScript: "guest-sdk/assemblyscript", project.TypeScript: "testdata/npm",
	project.Python: "testdata/pyright", // which has a type checker
}

// NeedsNode reports whether projects in a language have a directory node_modules.
func NeedsNode(l project.Language) bool { return l != project.Python && nodePackages[l] != "" }

// NodeModules returns a folder node_modules with the compilers or checkers of a language, and for TypeScript with
// the packages of testdata/npm. It is installed once for each lockfile, in the user's cache folder, and must not be
// changed.
func NodeModules(tb testing.TB, l project.Language) string {
	tb.Helper()
	from := filepath.Join(sourcetree.Root(), filepath.FromSlash(nodePackages[l]))
	lock, err := os.ReadFile(filepath.Join(from, "package-lock.json"))
	if err != nil {
		tb.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		tb.Fatal(err)
	}
	sum := sha256.Sum256(lock)
	dir := filepath.Join(cache, "wasmres-tests", string(l)+"-"+hex.EncodeToString(sum[:8]))
	modules := filepath.Join(dir, "node_modules")
	if _, err := os.Stat(modules); err == nil {
		return modules
	}
	if err := installNode(from, dir); err != nil {
		Missing(tb, "%v", err)
	}
	return modules
}

// installNode installs what the lockfile in from names beside dir and moves it there, so that dir is whole whenever it is there.
func installNode(from, dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "installing-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(fresh, name), text, 0o600); err != nil {
			return err
		}
	}
	cmd := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = fresh
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	if err := os.Rename(fresh, dir); err != nil && !os.IsExist(err) { // or another test run was faster
		return err
	}
	return nil
}
