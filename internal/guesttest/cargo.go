package guesttest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/project"
)

// rustTarget is what providers in Rust are compiled for.
const rustTarget = "wasm32-unknown-unknown"

// Cargo builds the library called name in dir, which uses the SDK for Rust and nothing else.
func Cargo(tb testing.TB, dir, name string) string {
	tb.Helper()
	return cargoBuild(tb, dir, name)
}

// debianCrates is where Debian installs the sources of crates.
const debianCrates = "/usr/share/cargo/registry"

// debianCargo is Cargo for a library that also uses a crate of Debian's package, which is librust-CRATE-dev.
func debianCargo(tb testing.TB, dir, name, crate string) string {
	tb.Helper()
	if found, _ := filepath.Glob(filepath.Join(debianCrates, crate+"-*")); len(found) == 0 {
		Missing(tb, "there is no crate %s: apt-get install librust-%s-dev", crate, crate)
	}
	return cargoBuild(tb, dir, name, "--config", `source.crates-io.replace-with="debian"`, "--config", fmt.Sprintf("source.debian.directory=%q", debianCrates))
}

// cargoBuild builds the library called name in dir.
func cargoBuild(tb testing.TB, dir, name string, options ...string) string {
	tb.Helper()
	rustc := wasmRustc(tb)
	cargo := Tool(tb, "apt-get install cargo", filepath.Join(filepath.Dir(rustc), "cargo"), "cargo")
	in := Inputs{Tools: []string{rustc, cargo}, Args: options, Trees: []string{dir, sdkDir(project.Rust)}}
	return Made(tb, name+".wasm", in, func(file string) {
		target := tb.TempDir()
		env := []string{"RUSTC=" + rustc, "RUSTFLAGS=", "CARGO_INCREMENTAL=0", "CARGO_TARGET_DIR=" + target}
		Run(tb, dir, env, cargo, append([]string{"build", "--offline", "--release", "--target", rustTarget}, options...)...)
		binary, err := os.ReadFile(filepath.Join(target, rustTarget, "release", name+".wasm"))
		if err == nil {
			err = os.WriteFile(file, binary, 0o600)
		}
		if err != nil {
			tb.Fatal(err)
		}
	})
}

// CargoTest runs the tests of the package in dir, which uses the SDK for Rust and nothing else, natively, and those in its
// documentation. Test processes share what cargo builds as long as the sources are the same.
func CargoTest(tb testing.TB, dir string) {
	tb.Helper()
	cargo := Tool(tb, "apt-get install rustc cargo", "cargo")
	in := Inputs{Tools: []string{"rustc", cargo}, Trees: []string{dir, sdkDir(project.Rust)}}
	built := Made(tb, "cargo-target", in, func(file string) {
		if err := os.Mkdir(file, 0o700); err != nil {
			tb.Fatal(err)
		}
	})
	env := []string{"RUSTFLAGS=", "CARGO_INCREMENTAL=0", "CARGO_TARGET_DIR=" + built}
	Run(tb, dir, env, cargo, "test", "--offline", "--locked", "--quiet")
}

// wasmRustc returns the path of a compiler that has the target: rustup's is often first in PATH, without it, while that
// of the distribution has it.
func wasmRustc(tb testing.TB) string {
	tb.Helper()
	const install = "apt-get install rustc cargo lld libstd-rust-dev-wasm32, or rustup target add " + rustTarget
	var fit []string
	for _, rustc := range []string{"rustc", "/usr/bin/rustc"} {
		out, err := exec.Command(rustc, "--print", "target-libdir", "--target", rustTarget).Output()
		if err != nil {
			continue
		}
		if std, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "libstd-*.rlib")); len(std) > 0 {
			fit = append(fit, rustc)
		}
	}
	if len(fit) == 0 {
		fit = []string{"rustc with the target " + rustTarget} // which is no program
	}
	return Tool(tb, install, fit...)
}
