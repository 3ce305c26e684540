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

// rustCompilers are those to try: rustup's is often first in PATH, without the target, while that of the distribution
// has it.
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
		// What is set for other builds stays away; names stay in.
		env: []string{"RUSTC=" + rustc, "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_PROFILE_RELEASE_STRIP=none"},
	})
	var failed *Failed
	if errors.As(err, &failed) {
		failed.Output = withoutMessages(failed.Output)
		if strings.Contains(failed.Output, "linker `") && strings.Contains(failed.Output, "` not found") {
			return &Missing{"the linker of rustc", advice{debian: "apt-get install lld", anywhere: "install lld"}.here()}
		}
	}
	if err != nil {
		return err
	}
	b.name, b.module, err = cargoLibrary(out, b.dir)
	return err
}

// findRust gives a compiler that has the target, and the cargo that belongs to it.
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

// hasTarget reports whether the standard library is there for the target.
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
		return advice{debian: add + ", or " + packages, anywhere: add}.here()
	}
	return advice{
		debian:   packages,
		anywhere: "get Rust at https://rustup.rs, then rustup target add " + rustTarget,
	}.here()
}

// A cargoMessage is a line that cargo writes for programs.
type cargoMessage struct {
	Reason string
	Target struct {
		Kind []string
		Name string
		Path string `json:"src_path"`
	}
	Filenames []string
}

// cargoLibrary finds the library that the project in dir has made.
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
		return "", "", errors.New(`the crate makes no module: give its Cargo.toml [lib] crate-type = ["cdylib"]`)
	}
	return strings.ReplaceAll(name, "_", "-"), module, nil
}

// withoutMessages leaves out the lines that cargo writes for programs.
func withoutMessages(output string) string {
	var b strings.Builder
	for line := range strings.Lines(output) {
		if !strings.HasPrefix(line, `{"reason":`) {
			b.WriteString(line)
		}
	}
	return b.String()
}
