package project

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const rustTarget = "wasm32-unknown-unknown"

// rustCompilers are the compilers to try, in this order. The compiler of rustup often comes first in PATH without having
// the target; the distribution's may have it.
var rustCompilers = []string{"rustc", "/usr/bin/rustc"}

func compileRust(b *builder) error {
	rustc, cargo, err := b.findRust()
	if err != nil {
		return err
	}
	b.compiler = b.ask(rustc, "--version")
	out, err := b.run(command{
		path: cargo,
		args: []string{"build", "--release", "--target", rustTarget, "--message-format=json-render-diagnostics"},
		// Flags for other builds are removed; names stay in the module.
		env: []string{"RUSTC=" + rustc, "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_PROFILE_RELEASE_STRIP=none"},
	})
	var failed *Failed
	if errors.As(err, &failed) {
		failed.Output = withoutMessages(failed.Output)
		if strings.Contains(failed.Output, "linker `") && strings.Contains(failed.Output, "` not found") {
			return &Missing{"the linker of rustc", advice{debian: "apt-get install lld", anywhere: "install lld"}.forThisOS()}
		}
	}
	if err != nil {
		return err
	}
	b.name, b.module, err = cargoLibrary(out, b.dir)
	return err
}

// findRust finds a compiler with the target, and its cargo.
func (b *builder) findRust() (rustc, cargo string, err error) {
	for _, name := range rustCompilers {
		rustc := find(name)
		if rustc == "" || !b.hasTarget(rustc) {
			continue
		}
		if cargo := find(filepath.Join(filepath.Dir(rustc), "cargo"), "cargo"); cargo != "" {
			return rustc, cargo, nil
		}
	}
	return "", "", &Missing{"Rust for " + rustTarget, rustAdvice()}
}

// hasTarget reports whether the standard library for the target is installed.
func (b *builder) hasTarget(rustc string) bool {
	dir := b.ask(rustc, "--print", "target-libdir", "--target", rustTarget)
	if dir == "" {
		return false
	}
	found, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "libstd-*.rlib"))
	return len(found) > 0
}

func rustAdvice() string {
	const packages = "apt-get install rustc cargo lld libstd-rust-dev-wasm32"
	if find("rustup") != "" {
		const add = "rustup target add " + rustTarget
		return advice{debian: add + ", or " + packages, anywhere: add}.forThisOS()
	}
	return advice{
		debian:   packages,
		anywhere: "get Rust at https://rustup.rs, then rustup target add " + rustTarget,
	}.forThisOS()
}

// A cargoMessage is a line of cargo's JSON output.
type cargoMessage struct {
	Reason string
	Target struct {
		Kind []string
		Name string
		Path string `json:"src_path"`
	}
	Filenames []string
}

// cargoLibrary finds the library of the project in dir in cargo's JSON output.
func cargoLibrary(messages, dir string) (name, module string, err error) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for line := range strings.Lines(messages) {
		var m cargoMessage
		if json.Unmarshal([]byte(line), &m) != nil || m.Reason != "compiler-artifact" {
			continue
		}
		if !slices.Contains(m.Target.Kind, "cdylib") || !strings.HasPrefix(m.Target.Path, dir+string(os.PathSeparator)) {
			continue
		}
		for _, file := range m.Filenames {
			if filepath.Ext(file) == ".wasm" {
				name, module = m.Target.Name, file
			}
		}
	}
	if module == "" {
		return "", "", errors.New(`the crate has no library for WebAssembly: add [lib] crate-type = ["cdylib"] to its Cargo.toml`)
	}
	return strings.ReplaceAll(name, "_", "-"), module, nil
}

// withoutMessages removes the lines of cargo's JSON output.
func withoutMessages(output string) string {
	var b strings.Builder
	for line := range strings.Lines(output) {
		if !strings.HasPrefix(line, `{"reason":`) {
			b.WriteString(line)
		}
	}
	return b.String()
}
