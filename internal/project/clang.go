package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// flagsFile has one compiler flag on each line. clangd reads it too.
const flagsFile = "compile_flags.txt"

// defaultFlags are the flags of a project without flagsFile.
var defaultFlags = []string{"--target=wasm32", "-O2", "-mbulk-memory", "-I" + sdkDir}

// The versions of LLVM to look for by name, as Debian names its programs.
const (
	oldestClang = 14
	newestClang = 22
)

func compileC(b *builder) error {
	clang, linker, err := b.findClang()
	if err != nil {
		return err
	}
	flags, err := compileFlags(b.path(flagsFile))
	if err != nil {
		return err
	}
	target, err := targetOf(flags)
	if err != nil {
		return err
	}
	link := []string{target, "-fuse-ld=" + linker, "-Wl,--stack-first"}
	if strings.Contains(target, "-wasi") {
		link = append(link, "-mexec-model=reactor")
		if err := b.needLibc(clang, link); err != nil {
			return err
		}
	} else {
		link = append(link, "-nostdlib", "-Wl,--no-entry")
	}
	return b.compileAndLink(clang, flags, link)
}

// compileAndLink compiles and links in separate commands: in one command, clang would run wasm-opt where it is installed.
func (b *builder) compileAndLink(clang string, flags, link []string) error {
	sources, err := filepath.Glob(filepath.Join(escapeGlob(b.dir), "*.c"))
	if err != nil || len(sources) == 0 {
		return fmt.Errorf("%s has no C files: add one, as provider.c", b.dir)
	}
	link = append(link, "-o", b.module)
	for i, source := range sources {
		object := filepath.Join(b.scratch, fmt.Sprintf("%d.o", i))
		link = append(link, object)
		args := append(flags[:len(flags):len(flags)], "-c", "-o", object, filepath.Base(source))
		if _, err := b.run(command{path: clang, args: args}); err != nil {
			return err
		}
	}
	_, err = b.run(command{path: clang, args: link})
	return err
}

// compileFlags reads the compiler flags of a project.
func compileFlags(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return defaultFlags, nil
	}
	var flags []string
	for line := range strings.Lines(string(text)) {
		if flag := strings.TrimSpace(line); flag != "" {
			flags = append(flags, flag)
		}
	}
	return flags, err
}

// targetOf returns the flag that names the target.
func targetOf(flags []string) (string, error) {
	for _, flag := range flags {
		if strings.HasPrefix(flag, "--target=wasm32") {
			return flag, nil
		}
	}
	return "", errors.New(flagsFile + " names no target: add a line --target=wasm32, " +
		"or --target=wasm32-wasi for wasi-libc")
}

// findClang finds a linker and a compiler for WebAssembly; the compiler of macOS is not one.
func (b *builder) findClang() (clang, linker string, err error) {
	for _, name := range versions("clang", "llvm") {
		clang = find(name)
		if clang != "" && strings.Contains(b.ask(clang, "--print-targets"), "wasm32") {
			break
		}
		clang = ""
	}
	if clang == "" {
		return "", "", &Missing{"a clang that compiles for WebAssembly", clangAdvice.forThisOS()}
	}
	b.compiler, _, _ = strings.Cut(b.ask(clang, "--version"), "\n")
	names := versions("wasm-ld", "lld")
	if real, err := filepath.EvalSymlinks(clang); err == nil { // prefer the linker of the same version
		names = append([]string{filepath.Join(filepath.Dir(real), "wasm-ld")}, names...)
	}
	if linker = find(names...); linker == "" {
		return "", "", &Missing{"wasm-ld", clangAdvice.forThisOS()}
	}
	return clang, linker, nil
}

var clangAdvice = advice{
	debian:   "apt-get install clang lld",
	mac:      "brew install llvm lld",
	anywhere: "install clang and lld of LLVM 14 or newer",
}

// versions returns the possible names of a program of LLVM: its own, the paths of Homebrew, and those with a version.
func versions(program, formula string) []string {
	names := []string{program}
	for _, prefix := range []string{"/opt/homebrew", "/usr/local"} {
		names = append(names, filepath.Join(prefix, "opt", formula, "bin", program))
	}
	for v := newestClang; v >= oldestClang; v-- {
		names = append(names, fmt.Sprintf("%s-%d", program, v))
	}
	return names
}

var clangVersion = expression(`version ([0-9]+)\.`)

// needLibc checks that clang can compile and link with a libc for the target.
func (b *builder) needLibc(clang string, link []string) error {
	source := filepath.Join(b.scratch, "probe.c")
	if err := os.WriteFile(source, []byte("#include <stdlib.h>\n"), 0o600); err != nil {
		return err
	}
	object := filepath.Join(b.scratch, "probe.o")
	_, err := b.run(command{path: clang, args: []string{link[0], "-c", "-o", object, source}})
	if err == nil {
		_, err = b.run(command{path: clang, args: append(link[:len(link):len(link)], "-o", b.module, object)})
	}
	var failed *Failed
	if !errors.As(err, &failed) {
		return err
	}
	packages := "apt-get install wasi-libc"
	if m := clangVersion().FindStringSubmatch(b.compiler); m != nil {
		packages += " libclang-rt-" + m[1] + "-dev-wasm32"
	}
	return &Missing{"wasi-libc", advice{debian: packages, anywhere: "use the clang of wasi-sdk, which includes it"}.forThisOS()}
}
