package abitest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/abi/abitest"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/project"
)

const rustSDK = "../../guest-sdk/rust"

// TestRustGuest holds the Rust SDK to the kit.
func TestRustGuest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a guest")
	}
	abitest.Run(t, load(t, guesttest.Kit(t, project.Rust), true))
}

// TestDocumentedRustGuest builds the provider of the Rust SDK's README as its readers would.
func TestDocumentedRustGuest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a guest")
	}
	guest := load(t, guesttest.Cargo(t, documentedRust(t), "hello"), false)
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
	for _, dir := range []string{rustSDK, "../../examples/wasm/logs"} {
		guesttest.CargoTest(t, dir)
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
