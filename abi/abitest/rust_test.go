package abitest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/abi/abitest"
)

const (
	rustSDK    = "../../guest-sdk/rust"
	rustTarget = "wasm32-unknown-unknown"
)

// TestRustGuest holds the Rust SDK to the kit.
func TestRustGuest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a guest")
	}
	abitest.Run(t, load(t, cargoBuild(t, "../../testdata/wasm/kit-rust", "kit_rust"), false))
}

// TestDocumentedRustGuest builds the provider of the Rust SDK's README as its readers would.
func TestDocumentedRustGuest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a guest")
	}
	guest := load(t, cargoBuild(t, documentedRust(t), "hello"), false)
	m := ask(t, guest, abi.OpDescribe, abi.Request{}).Reply.Manifest
	if m == nil || m.Check() != nil || len(m.Templates) != 1 || m.Templates[0].URITemplate != "greeting://{name}" {
		t.Fatalf("got manifest %+v", m)
	}
	for _, name := range []string{"Ada", "", "世界", strings.Repeat("a", 20_000)} {
		o := ask(t, guest, abi.OpRead, abi.Request{URI: "greeting://x", Route: 1, Vars: []abi.Var{{Name: "name", Value: name}}})
		if len(o.Contents) != 1 || string(o.Contents[0].Body) != "Hello, "+name+"!" {
			t.Errorf("%.20q: got %.200s", name, fmt.Sprint(o))
		}
	}
	if o := ask(t, guest, abi.OpList, abi.Request{}); o.Code != abi.CodeUnsupported {
		t.Errorf("LIST: got %v, want unsupported", o.Code)
	}
}

// TestRustSDK runs the tests of the Rust SDK and of an example, natively, and those in the documentation.
func TestRustSDK(t *testing.T) {
	if testing.Short() {
		t.Skip("runs cargo test")
	}
	cargo := toolchain(t, "apt-get install rustc cargo", "cargo")
	for _, dir := range []string{rustSDK, "../../examples/wasm/logs"} {
		build(t, dir, rustEnv(t, nil), cargo, "test", "--offline", "--locked", "--quiet")
	}
}

// documentedRust makes the files that the README of the Rust SDK has one write.
func documentedRust(t *testing.T) (dir string) {
	t.Helper()
	readme, err := os.ReadFile(rustSDK + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	sdk, err := filepath.Abs(rustSDK)
	if err != nil {
		t.Fatal(err)
	}
	block := func(language string) string {
		_, text, _ := strings.Cut(string(readme), "```"+language+"\n")
		text, _, ok := strings.Cut(text, "```")
		if !ok {
			t.Fatalf("the README of the Rust SDK has no %s", language)
		}
		return text
	}
	dir = t.TempDir()
	for name, text := range map[string]string{
		"src/lib.rs": block("rust"),
		"Cargo.toml": strings.ReplaceAll(block("toml"), "/path/to/wasmres/guest-sdk/rust", sdk),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// cargoBuild builds the library in a folder and gives the path of the module.
func cargoBuild(t *testing.T, dir, name string) (wasm string) {
	t.Helper()
	rustc := wasmRustc(t)
	cargo := toolchain(t, "apt-get install cargo", filepath.Join(filepath.Dir(rustc), "cargo"), "cargo")
	target := t.TempDir()
	env := rustEnv(t, []string{"RUSTC=" + rustc, "CARGO_TARGET_DIR=" + target})
	build(t, dir, env, cargo, "build", "--offline", "--release", "--target", rustTarget)
	return filepath.Join(target, rustTarget, "release", name+".wasm")
}

// rustEnv keeps what cargo writes, and what is set in the environment of the tests, away from the build.
func rustEnv(t *testing.T, env []string) []string {
	t.Helper()
	return append([]string{"RUSTFLAGS=", "CARGO_TARGET_DIR=" + t.TempDir(), "CARGO_INCREMENTAL=0"}, env...)
}

// wasmRustc returns the path of a compiler that has the target: rustup's is often first in PATH, without it, while that
// of the distribution has it.
func wasmRustc(t *testing.T) string {
	t.Helper()
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
	return toolchain(t, install, fit...)
}
