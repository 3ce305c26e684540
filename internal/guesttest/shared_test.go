package guesttest

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/sourcetree"
)

// recipeOf depends on one text.
func recipeOf(text string) *recipe {
	r := newRecipe()
	r.add("text", []byte(text))
	return r
}

func TestAModuleIsMadeOnceForAllThatNeedIt(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	var builds atomic.Int32
	build := func(file string) error {
		builds.Add(1)
		return os.WriteFile(file, []byte("module"), 0o600)
	}
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			file, err := shared("it.wasm", recipeOf("a"), build)
			if err != nil {
				t.Error(err)
				return
			}
			if text, err := os.ReadFile(file); string(text) != "module" || err != nil {
				t.Errorf("got %q, %v", text, err)
			}
		})
	}
	wg.Wait()
	if n := builds.Load(); n != 1 {
		t.Errorf("it was made %d times", n)
	}
	if _, err := shared("it.wasm", recipeOf("b"), build); err != nil || builds.Load() != 2 {
		t.Errorf("of another source it was made %d times, %v", builds.Load()-1, err)
	}
}

func TestAFailedBuildIsTriedAgain(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	broken := errors.New("broken")
	file, err := shared("it.wasm", recipeOf("a"), func(file string) error {
		return errors.Join(os.WriteFile(file, []byte("half"), 0o600), broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file is there: %v", err)
	}
	if _, err := shared("it.wasm", recipeOf("a"), func(file string) error { return os.WriteFile(file, nil, 0o600) }); err != nil {
		t.Error(err)
	}
}

func TestUnusedModulesAreRemoved(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	build := func(file string) error { return os.WriteFile(file, nil, 0o600) }
	file, err := shared("it.wasm", recipeOf("a"), build)
	if err != nil {
		t.Fatal(err)
	}
	dir, long := filepath.Dir(file), time.Now().Add(-2*moduleLife)
	for _, path := range []string{filepath.Join(dir, lockName), dir} {
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := shared("it.wasm", recipeOf("b"), build); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("one that is used is gone: %v", err)
	}
	if err := os.Chtimes(file, long, long); err != nil {
		t.Fatal(err)
	}
	if _, err := shared("it.wasm", recipeOf("c"), build); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("one that is not used is there: %v", err)
	}
}

// A module depends on the packages of this repository that its program imports, and on no other example.
func TestARecipeFollowsImports(t *testing.T) {
	keyOf := func(example string) string {
		r := newRecipe()
		seen := map[string]bool{}
		r.addPackage(filepath.Join(source(), example), seen)
		key, err := r.key()
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{filepath.Join(sourcetree.Root(), "guest-sdk", "go"), filepath.Join(sourcetree.Root(), "guest-sdk", "go", "internal", "host")} {
			if !seen[dir] {
				t.Errorf("%s does not depend on %s", example, dir)
			}
		}
		if tables := filepath.Join(source(), "tables"); seen[tables] != (example == "users") {
			t.Errorf("%s depends on tables: %v", example, seen[tables])
		}
		return key
	}
	if keyOf("hello") == keyOf("users") {
		t.Error("two examples have one key")
	}
}
