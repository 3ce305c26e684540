package compiler_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
	"github.com/wasmres/wasmres/runtime/internal/process"
)

// parentEnv makes the test binary compile in the folder it names, and do nothing else.
const parentEnv = "COMPILER_TEST_PARENT"

func TestMain(m *testing.M) {
	probe() // in place of Main, where that is asked for
	compiler.Main()
	if dir := os.Getenv(parentEnv); dir != "" {
		c, err := compiler.New(compiler.Config{CacheDir: dir, Executable: os.Getenv(parentEnv + "_CHILD")})
		if err == nil {
			err = c.Compile(context.Background(), tiny())
		}
		panic(err) // it is killed before
	}
	process.ForkServer() // what starts children is there before goroutines are counted
	os.Exit(m.Run())
}

func newCompiler(tb testing.TB, cfg compiler.Config) *compiler.Compiler {
	tb.Helper()
	c, err := compiler.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// newDir returns a cache folder that is not there yet.
func newDir(tb testing.TB) string { return filepath.Join(tb.TempDir(), "cache") }

// files lists what is in a cache folder.
func files(tb testing.TB, dir string, pattern ...string) []string {
	tb.Helper()
	found, err := filepath.Glob(filepath.Join(append([]string{dir}, pattern...)...))
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

// check compares an error's code and public text, and looks for what a child may have left behind.
func check(t *testing.T, dir string, err error, code abi.Code, text string) {
	t.Helper()
	if abi.CodeOf(err) != code || err != nil && !strings.Contains(err.Error(), text) {
		t.Errorf("got %v (%v, cause %v), want %v: … %s …", err, abi.CodeOf(err), errors.Unwrap(err), code, text)
	}
	if left := files(t, dir, "compiling-*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestTheEngineFindsWhatTheChildCompiled(t *testing.T) {
	dir := newDir(t)
	binary := functions(5000)
	c := newCompiler(t, compiler.Config{CacheDir: dir})
	start := time.Now()
	check(t, dir, c.Compile(t.Context(), binary), abi.CodeOK, "")
	cold := time.Since(start)
	entries := files(t, dir, "*", "wazero-*", "*")
	if len(entries) != 1 {
		t.Fatalf("got cache entries %v, want one", entries)
	}
	before, err := os.Stat(entries[0])
	if err != nil {
		t.Fatal(err)
	}
	start = time.Now()
	if err := load(t, dir, binary); err != nil {
		t.Fatal(err)
	}
	warm := time.Since(start)
	if diff := cmp.Diff(entries, files(t, dir, "*", "wazero-*", "*")); diff != "" {
		t.Errorf("the parent compiled again (-child +parent):\n%s", diff)
	}
	if after, err := os.Stat(entries[0]); err != nil || !os.SameFile(before, after) {
		t.Errorf("the parent compiled again: %v, %v", after, err)
	}
	t.Logf("child %v, parent afterwards %v", cold, warm)
}

func TestAnOutcomeIsRememberedAcrossCompilers(t *testing.T) {
	for name, tt := range map[string]struct {
		module []byte
		code   abi.Code
		text   string
	}{
		"compiled":    {tiny(), abi.CodeOK, ""},
		"not Wasm":    {[]byte("MZ"), abi.CodeModule, "not a WebAssembly module"},
		"memory bomb": {locals(200_000_000), abi.CodeModule, "more than 256 MiB of memory"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := compiler.Config{CacheDir: newDir(t), Memory: 256 << 20}
			first := newCompiler(t, cfg).Compile(t.Context(), tt.module)
			check(t, cfg.CacheDir, first, tt.code, tt.text)
			cfg.Executable = "/nonexistent" // from here on nothing can be spawned
			c := newCompiler(t, cfg)
			for range 2 {
				check(t, cfg.CacheDir, c.Compile(t.Context(), tt.module), tt.code, tt.text)
			}
		})
	}
}

func TestADamagedMarkerIsIgnoredAndRewritten(t *testing.T) {
	modules := map[string][]byte{"compiled": tiny(), "refused": []byte("MZ")}
	damages := map[string]func(marker string) error{
		"garbage": func(m string) error { return os.WriteFile(m, []byte("\x00{{{"), 0o600) },
		"empty":   func(m string) error { return os.Truncate(m, 0) },
		"huge":    func(m string) error { return os.Truncate(m, 1<<30) },
		"outside": func(m string) error { return os.WriteFile(m, []byte(`{"file":"../../etc/passwd"}`), 0o600) },
		"missing": os.Remove,
		"folder":  func(m string) error { return errors.Join(os.Remove(m), os.Mkdir(m, 0o700)) },
	}
	for kind, module := range modules {
		for name, damage := range damages {
			t.Run(kind+"/"+name, func(t *testing.T) {
				dir := newDir(t)
				first := newCompiler(t, compiler.Config{CacheDir: dir}).Compile(t.Context(), module)
				marker := files(t, dir, "*."+kind)
				if len(marker) != 1 {
					t.Fatalf("got %d markers, want 1", len(marker))
				}
				if err := damage(marker[0]); err != nil {
					t.Fatal(err)
				}
				again := newCompiler(t, compiler.Config{CacheDir: dir}).Compile(t.Context(), module)
				check(t, dir, again, abi.CodeOf(first), "")
				info, err := os.Stat(marker[0])
				if err != nil || name != "folder" && (info.Size() > 4096 || info.Mode() != 0o600) {
					t.Errorf("got %v, %v, want the marker rewritten with mode 0600", info, err)
				}
			})
		}
	}
}

func TestACompiledModuleThatIsGoneOrDamagedIsCompiledAgain(t *testing.T) {
	dir := newDir(t)
	c := newCompiler(t, compiler.Config{CacheDir: dir})
	check(t, dir, c.Compile(t.Context(), tiny()), abi.CodeOK, "")
	file := files(t, dir, "*", "wazero-*", "*")[0]
	for name, damage := range map[string]error{"removed": os.Remove(file), "truncated": nil} {
		if damage != nil {
			t.Fatal(damage)
		}
		if name == "truncated" {
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		check(t, dir, c.Compile(t.Context(), tiny()), abi.CodeOK, "")
		if info, err := os.Stat(file); err != nil || info.Size() == 0 {
			t.Errorf("%s: got %v, %v, want it back", name, info, err)
		}
	}
}

func TestRefusalsDoNotFillTheFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many children")
	}
	dir := newDir(t)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	for i := range 1100 {
		name := filepath.Join(dir, strings.Repeat("x", i%200+1)+string(rune('a'+i/200))+".refused")
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Chtimes(name, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	c := newCompiler(t, compiler.Config{CacheDir: dir})
	check(t, dir, c.Compile(t.Context(), []byte("MZ")), abi.CodeModule, "")
	if left := files(t, dir, "*.refused"); len(left) != 1024 {
		t.Errorf("got %d refusals, want 1024", len(left))
	}
	check(t, dir, newCompiler(t, compiler.Config{CacheDir: dir, Executable: "/nonexistent"}).Compile(t.Context(), []byte("MZ")), abi.CodeModule, "")
}

func TestAFolderThatCannotBeUsedIsNotHeldAgainstTheModule(t *testing.T) {
	shared := func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)) }
	file := func(dir string) error { return os.WriteFile(dir, nil, 0o600) }
	readOnly := func(dir string) error { return os.Mkdir(dir, 0o500) }
	// The child can write, but what it has written cannot be taken over.
	blocked := func(dir string) error {
		err := newCompiler(t, compiler.Config{CacheDir: dir}).Compile(t.Context(), tiny())
		file := files(t, dir, "*", "wazero-*", "*")[0]
		return errors.Join(err, os.Remove(file), os.MkdirAll(filepath.Join(file, "in", "the way"), 0o700))
	}
	for name, tt := range map[string]struct {
		damage func(string) error
		text   string
	}{
		"others can write": {shared, "private directory"},
		"a file":           {file, "compilation cache"},
		"read-only":        {readOnly, "permission denied"},
		"blocked":          {blocked, "file exists"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "read-only" && os.Getuid() == 0 {
				t.Skip("root may write anywhere")
			}
			dir := newDir(t)
			if err := tt.damage(dir); err != nil {
				t.Fatal(err)
			}
			c := newCompiler(t, compiler.Config{CacheDir: dir})
			check(t, dir, c.Compile(t.Context(), tiny()), abi.CodeInternal, tt.text)
			if err := errors.Join(os.Chmod(dir, 0o700), os.RemoveAll(dir)); err != nil {
				t.Fatal(err)
			}
			check(t, dir, c.Compile(t.Context(), tiny()), abi.CodeOK, "")
		})
	}
}

func TestConfigIsChecked(t *testing.T) {
	_, err := compiler.New(compiler.Config{Timeout: -1, Memory: 1})
	if err == nil {
		t.Fatal("got nil, want an error")
	}
	for _, want := range []string{"no cache folder", "negative", "out of range"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want … %s …", err, want)
		}
	}
}

func TestManyModulesAtOnce(t *testing.T) {
	dir := newDir(t)
	c := newCompiler(t, compiler.Config{CacheDir: dir, Concurrent: 2})
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			module, code := tiny(), abi.CodeOK
			if i%3 == 0 {
				module, code = []byte("MZ"), abi.CodeModule
			} else {
				module = append(module, 0, 2, 1, byte(i%4)) // a custom section with a name of one byte
			}
			ctx := t.Context()
			if i%4 == 1 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, time.Duration(i)*time.Millisecond)
				defer cancel()
			}
			err := c.Compile(ctx, module)
			if got := abi.CodeOf(err); got != code && got != abi.CodeDeadline {
				t.Errorf("module %d: got %v, want %v", i, err, code)
			}
		})
	}
	wg.Wait()
	check(t, dir, nil, abi.CodeOK, "")
}

// load has an engine of this process load what is in the cache.
func load(t *testing.T, dir string, binary []byte) error {
	t.Helper()
	d := sha256.Sum256(binary)
	folder := filepath.Join(dir, hex.EncodeToString(d[:]))
	e, err := wazero.Open(wazero.Config{Precompile: func(context.Context, []byte) (string, error) { return folder, nil }})
	if err != nil {
		return err
	}
	defer e.Close()
	m, err := e.Compile(t.Context(), binary, nil)
	if err != nil {
		return err
	}
	return m.Close()
}
