package guesttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/internal/sourcetree"
)

// kitDir is the folder of the conformance kit's provider in a language.
func kitDir(l project.Language) string {
	return filepath.Join(sourcetree.Root(), "testdata", "wasm", "kit-"+string(l))
}

// sdkDir is the folder of a language's SDK.
func sdkDir(l project.Language) string {
	return filepath.Join(sourcetree.Root(), "guest-sdk", string(l))
}

// Kit returns the path of the conformance kit's provider in a language, which package abitest describes.
func Kit(tb testing.TB, l project.Language) string {
	tb.Helper()
	dir := kitDir(l)
	switch l {
	case project.Go:
		return Made(tb, "kit-go.wasm", Inputs{Trees: []string{dir, sdkDir(l)}}, func(file string) {
			env := []string{"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS="}
			Run(tb, dir, env, "go", "build", "-buildmode=c-shared", "-trimpath", "-o", file, ".") // as examples are built
		})
	case project.Rust:
		return Cargo(tb, dir, "kit_rust")
	case project.C:
		return CModule(tb, "wasm32", "-O2 -mbulk-memory", "-nostdlib -Wl,--no-entry", "kit.c")
	case project.AssemblyScript:
		return AssemblyScript(tb, dir, "main.ts")
	default: // the scripts of a provider are packed into an engine, which takes no tools
		return Packed(tb, dir, l)
	}
}

// Packed builds the provider in dir, whose scripts are packed into an engine.
func Packed(tb testing.TB, dir string, l project.Language) string {
	tb.Helper()
	trees := []string{dir, filepath.Join(sourcetree.Root(), "guest-sdk"), filepath.Join(sourcetree.Root(), "internal", "project")}
	return Made(tb, filepath.Base(dir)+".wasm", Inputs{Args: []string{string(l)}, Trees: trees}, func(file string) {
		module, err := project.Build(tb.Context(), dir, l, project.Options{})
		if err == nil {
			err = os.WriteFile(file, module.Binary, 0o600)
		}
		if err != nil {
			tb.Fatal(err)
		}
	})
}

// NodeFlag has Node.js compile WebAssembly once, fast, and not again for speed: the compiler of AssemblyScript, most of which
// is WebAssembly, ends before that pays.
const NodeFlag = "--liftoff-only"

// AssemblyScript compiles a guest in dir with the asconfig.json there.
func AssemblyScript(tb testing.TB, dir, entry string, options ...string) string {
	tb.Helper()
	node := Tool(tb, "apt-get install nodejs", "node")
	Tool(tb, "apt-get install npm", "npm")
	compiler := filepath.Join(NodeModules(tb, project.AssemblyScript), "assemblyscript", "bin", "asc.js")
	in := Inputs{
		Tools: []string{node}, Args: append([]string{entry}, options...),
		Trees: []string{dir, sdkDir(project.AssemblyScript)}, // whose lockfile names the compiler
	}
	return Made(tb, "assemblyscript.wasm", in, func(file string) {
		Run(tb, dir, nil, node, append([]string{NodeFlag, compiler, entry, "-o", file}, options...)...)
	})
}

// CModule builds a guest of testdata/wasm/kit-c in two steps, so that clang does not run wasm-opt. compile and link are
// arguments with spaces between them.
func CModule(tb testing.TB, target, compile, link, source string) string {
	tb.Helper()
	linker := Tool(tb, "apt-get install lld", "wasm-ld", "wasm-ld-14") // which clang calls
	clang := Tool(tb, "apt-get install clang", "clang", "clang-14")
	dir, sdk := kitDir(project.C), sdkDir(project.C)
	in := Inputs{Tools: []string{clang, linker}, Args: []string{target, compile, link, source}, Trees: []string{dir, sdk}}
	return Made(tb, "kit-c.wasm", in, func(file string) {
		object := file + ".o"
		args := append([]string{"--target=" + target, "-I" + sdk, "-c", "-o", object}, strings.Fields(compile)...)
		Run(tb, dir, nil, clang, append(args, source)...)
		args = append([]string{"--target=" + target, "-o", file, object}, strings.Fields(link)...)
		Run(tb, filepath.Dir(file), nil, clang, args...)
	})
}
