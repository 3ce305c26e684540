package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// flagsFile has a flag of the compiler on each line. clangd reads it too.
const flagsFile = "compile_flags.txt"

// usualFlags are those of a project without the file.
var usualFlags = []string{"--target=wasm32", "-O2", "-mbulk-memory", "-I" + sdkFolder}

// The versions of LLVM that are looked for by name, as Debian has them.
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

// compileAndLink takes two steps at least: in one, clang would run wasm-opt if that is there.
func (b *builder) compileAndLink(clang string, flags, link []string) error {
	sources, err := filepath.Glob(filepath.Join(escapeGlob(b.dir), "*.c"))
	if err != nil || len(sources) == 0 {
		return fmt.Errorf("%s has no files in C", b.dir)
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

// compileFlags reads the flags of a project.
func compileFlags(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return usualFlags, nil
	}
	var flags []string
	for line := range strings.Lines(string(text)) {
		if flag := strings.TrimSpace(line); flag != "" {
			flags = append(flags, flag)
		}
	}
	return flags, err
}

// targetOf gives the flag that says what to compile for.
func targetOf(flags []string) (string, error) {
	for _, flag := range flags {
		if strings.HasPrefix(flag, "--target=wasm32") {
			return flag, nil
		}
	}
	return "", errors.New(flagsFile + " does not say what to compile for: add a line --target=wasm32, " +
		"or --target=wasm32-wasi for wasi-libc")
}

// findClang gives a compiler that knows WebAssembly, as that of macOS does not, and a linker.
func (b *builder) findClang() (clang, linker string, err error) {
	for _, name := range versions("clang", "llvm") {
		clang = find(name)
		if clang != "" && strings.Contains(b.ask(clang, "--print-targets"), "wasm32") {
			break
		}
		clang = ""
	}
	if clang == "" {
		return "", "", &Missing{"a clang that compiles for WebAssembly", clangAdvice.here()}
	}
	b.compiler, _, _ = strings.Cut(b.ask(clang, "--version"), "\n")
	names := versions("wasm-ld", "lld")
	if real, err := filepath.EvalSymlinks(clang); err == nil { // its own linker is the best one
		names = append([]string{filepath.Join(filepath.Dir(real), "wasm-ld")}, names...)
	}
	if linker = find(names...); linker == "" {
		return "", "", &Missing{"wasm-ld", clangAdvice.here()}
	}
	return clang, linker, nil
}

var clangAdvice = advice{
	debian:   "apt-get install clang lld",
	mac:      "brew install llvm lld",
	anywhere: "install clang and lld of LLVM 14 or newer",
}

// versions gives the names that a program of LLVM may have: its own, where Homebrew keeps it, and those with a version.
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

// needLibc sees whether clang finds a libc for the target, and what else linking with one takes.
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
	return &Missing{"wasi-libc", advice{debian: packages, anywhere: "take the clang of wasi-sdk, which has it"}.here()}
}
